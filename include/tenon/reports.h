/* Reports: what happened to a model's graph, where a run's time goes, what is in memory, which
 * devices there are. Part of tenon.h, which includes it.
 *
 * Reports are JSON documents (UTF-8): they are read by people and by programs in every language,
 * and can grow without a change of this interface. Each begins with its "schema" ("tenon.profile")
 * and "version"; the version grows when a member changes its meaning or goes. Readers should ignore
 * members that they do not know. Shapes are arrays in which null is an unknown dimension; null in
 * place of an array is an unknown rank. dtypes are names ("float", "bfloat16"). Making a report
 * costs nothing until it is asked for; a run with a profile stores only numbers. */
#include "tenon.h" /* outside of the guard: tenon.h includes this file */

#ifndef TENON_REPORTS_H_
#define TENON_REPORTS_H_

#ifdef __cplusplus
extern "C" {
#endif

/* A text that the caller must free. */
typedef struct tenon_text tenon_text;
/* Ends with a 0 that size does not count. */
TENON_API const char* tenon_text_data(const tenon_text* text);
TENON_API size_t tenon_text_size(const tenon_text* text);
TENON_API void tenon_text_free(tenon_text* text);

/* {"schema": "tenon.session", "version": 1,
 *  "threads": 2, "onednn_opts": true,
 *  "rewriting": {"status": "" or why the graph runs unchanged, "note": "", "ms": 12.5,
 *                "phases": [{"phase": "fuse", "ms": 3.1, "nodes": 120,
 *                            "rules": [{"rule": "FuseConv2D", "fired": 53}]}],
 *                "ops_before": {"Conv2D": 53}, "ops_after": {"_MklNativeFusedConv2D": 53}},
 *  "memory": {"weights": bytes, "packed": bytes, "plans": bytes, "primitives": bytes, "total":
 *             bytes; with a memory_limit also "limit", "held" and "peak": bytes},
 *  "plans": [{"inputs": [{"name": "x", "dtype": "float", "shape": [1, 224, 224, 3]}], "steps": 58,
 *             "nodes": 60, "evaluated": 0, "aliased": 1, "in_place": 3, "arena_bytes": bytes,
 *             "unshared_bytes": bytes}],
 *  "plan_cache": {"hits": 9, "misses": 1, "evictions": 0},
 *  "function_plan_cache": the same of the plans of loops' bodies and of branches,
 *  "kernel_cache": {...},
 *  "disk_cache": {"state": "off", "pending", "written", "read" or "failed", "status": ""},
 *  "devices": number of nodes on devices}
 * "rewriting" is empty in a session that came from the disk cache. An omitted input is not among
 * the plan's. */
TENON_API tenon_status* tenon_session_report(const tenon_session* session, tenon_text** report);

/* Bytes that a session holds, as far as it knows. Cheap enough to ask often. */
typedef struct tenon_memory {
  size_t size;        /* sizeof(tenon_memory), set by the caller */
  int64_t weights;    /* plain values of constants */
  int64_t packed;     /* forms that kernels made from them */
  int64_t plans;      /* the plans that are kept, and the arenas of their runs */
  int64_t primitives; /* an estimate: oneDNN does not report it */
  int64_t limit;      /* the session's memory_limit; 0: none, and the next two are 0 */
  int64_t held;       /* what counts against it now */
  int64_t peak;       /* the most that has counted */
} tenon_memory;
#define TENON_MEMORY_INIT \
  { sizeof(tenon_memory), 0, 0, 0, 0, 0, 0, 0 }
TENON_API tenon_status* tenon_session_memory(const tenon_session* session, tenon_memory* memory);

/* Which rules fired where, and why others did not. Rewrites the model anew, so that sessions need
 * not keep this. `options` as for a session (may be NULL); `nodes` are names of the model as it is
 * loaded: none: every node that takes time and whose op has an accelerated kernel, "*": all.
 * {"schema": "tenon.explanation", "version": 1, "onednn_opts": true,
 *  "applied": [{"phase": "fuse", "rule": "FuseConv2D", "node": "relu1",
 *               "diff": ["- ...", "+ ..."]}],
 *  "nodes": [{"node": "conv1", "op": "Conv2D", "now": "relu1",
 *             "now_op": "_MklNativeFusedConv2D", "accelerated": true,
 *             "rules": [{"phase": "fuse", "rule": "FusePadConv", "fired": false,
 *                        "near_miss": false, "reason": "...", "why": {"kind": "reader",
 *                        "node": "pad", "op": "Pad", "found": "...", "needed": "...", "change":
 *                        "...", "text": "..."}}]}]}
 * "now" is empty if the node was removed or folded. Of the rules that did not fire, those count
 * that were real candidates; with "near_miss", one change to the model would let the rule fire: it
 * was tried. "why" is null for a rule that fired. Ops that Tenon does not have are no error. */
TENON_API tenon_status* tenon_model_explain(const tenon_model* model,
                                            const tenon_session_options* options,
                                            const char* const* nodes, int num_nodes,
                                            tenon_text** report);

/* All that there is to know of a model on this machine: the graph through all phases, where each
 * node comes from, why rules stopped, what almost fused, the plan with its costs and memory, the
 * times of its steps, and what to try first. docs/explore.schema.json has the schema
 * ("tenon.explore", version 1). `inputs` are in the session's order, as for tenon_session_run;
 * none: neither plan nor times. `seconds` is how long to measure, 0: not at all; the first time on
 * a machine, half a second more. A plan that cannot be made is no error: "planning" says why. */
TENON_API tenon_status* tenon_model_explore(const tenon_model* model,
                                            const tenon_session_options* options,
                                            const tenon_tensor* const* inputs, int num_inputs,
                                            double seconds, tenon_text** report);
/* The same as a page to look at: the text of an HTML file, which works without a network
 * (docs/EXPLORE.md). With `second`, which may be the same model, both side by side, with
 * differences marked; it is explored with `second_options` (NULL: defaults) and the same inputs.
 * NULL: one model. */
TENON_API tenon_status* tenon_model_explore_page(const tenon_model* model,
                                                 const tenon_session_options* options,
                                                 const tenon_tensor* const* inputs, int num_inputs,
                                                 double seconds, const tenon_model* second,
                                                 const tenon_session_options* second_options,
                                                 tenon_text** page);

/* Collects the times of every step of runs that have it in their options, one run at a time. */
TENON_API tenon_profile* tenon_profile_create(void); /* NULL: out of memory */
TENON_API void tenon_profile_free(tenon_profile* profile);
TENON_API void tenon_profile_clear(tenon_profile* profile);
TENON_API int tenon_profile_num_runs(const tenon_profile* profile);
/* {"schema": "tenon.profile", "version": 1, "runs": 10,
 *  "plans": [{"runs": 10, "ns": 360000000,
 *             "steps": [{"node": "conv1", "op": "_MklNativeFusedConv2D",
 *                        "implementation": "brgconv:avx512_core", "accelerated": true,
 *                        "dynamic": false, "device": "", "ns": 9000000, "fastest_ns": 880000,
 *                        "flops": 236027904, "bytes": 3251200}]}]}
 * One plan for each set of input shapes; "ns" is the sum over its runs, "flops" and "bytes" are
 * those of one run (bytes of the step's inputs and outputs with weights; 0: not known ahead). A
 * loop or branch is one step. */
TENON_API tenon_status* tenon_profile_report(const tenon_profile* profile, tenon_text** report);
/* A trace in the JSON form that Perfetto and chrome://tracing read: an event for each step. */
TENON_API tenon_status* tenon_profile_trace(const tenon_profile* profile, tenon_text** trace);

/* The CPU and the devices of plug-ins; `plugins` as in tenon_session_options, may be NULL.
 * {"schema": "tenon.devices", "version": 1,
 *  "devices": [{"name": "CPU:0", "platform": "oneDNN", "hardware": "2 CPUs", "vendor": "",
 *               "total_bytes": null, "free_bytes": null, "kernels": null, "source": "Tenon"}]} */
TENON_API tenon_status* tenon_devices(const char* plugins, tenon_text** report);

#ifdef __cplusplus
}
#endif

#endif /* TENON_REPORTS_H_ */
