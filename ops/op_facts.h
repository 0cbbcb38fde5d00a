// Facts: what an op row states about the op besides how to run it. Rewrites, plans, the quantizer,
// the import and the tests read these small enums. The first value of each enum is the cautious
// one, for an op about which nothing is known; it is the default.
#ifndef TENON_OPS_OP_FACTS_H_
#define TENON_OPS_OP_FACTS_H_

namespace tenon {

// The sign of the results.
enum class Sign {
  kAny,
  kNeverNegative,  // zero or more, or NaN, for all inputs
  kOfInputs,       // not negative if no input of the result's dtype is
};

// The op's role in reduced-precision regions (graph_rewrite/dtype_regions.h). An op that only moves
// elements (OpRow::moves_elements) always joins its neighbors' region.
enum class PrecisionRole {
  kFloat,     // stays in float when a graph is converted to bfloat16
  kFollows,   // computes well in bfloat16: joins the region of a contraction whose result it reads
  kLeads,     // a contraction: the reason why a region changes its dtype
  kAsStated,  // always keeps the graph's dtype, because the op is about dtypes
};

// How the op is converted when a graph computes in 8-bit integers: what the quantizer and the rules
// for quantized regions do with an op that reads or produces dequantized data.
enum class OnIntegers {
  kNone,              // needs floats
  kContraction,       // its constant weights and its data become 8-bit integers
  kFusedContraction,  // likewise, with fused_ops; the quantizer never sees one
  kRearranges,        // the same op on integers: all elements of input 0, in another order or shape
  kSelects,           // the same op on integers: some of the elements of input 0
  kPads,              // the same op on integers; pads with the zero point
  kPools,             // a Quantized… op; its output has its input's range
  kJoins,             // the same op on integers with one common range; the last input is the axis
  kAdds,              // two operands, each with its own range
  kAverages,          // scaled sums of integers
  kRounds,            // rounds floats to quantized values: QuantizeV2 and Dequantize in one
};

// What the op is to the import.
enum class ImportRole {
  kNone,
  kValue,              // holds or passes on a value: no other node has to wait for it
  kHandle,             // the handle of a resource variable
  kReference,          // a reference variable of TensorFlow 1
  kReads,              // reads the variable or table whose handle is input 0
  kHint,               // takes a handle and has no effect
  kRestores,           // reads a checkpoint
  kTable,              // a lookup table that an initializer fills
  kMutableTable,       // a lookup table that is empty at first
  kFillsTable,         // fills the table in input 0 from tensors
  kFillsTableFromText  // fills it from a text file
};

// How the op calls the functions named in its attributes.
enum class ControlFlow {
  kNone,
  kIf,     // calls one of two, chosen by input 0; the other inputs are arguments
  kCase,   // calls one of a list, chosen by input 0; the other inputs are arguments
  kWhile,  // calls a condition and a body repeatedly; all inputs are arguments
};

}  // namespace tenon

#endif  // TENON_OPS_OP_FACTS_H_
