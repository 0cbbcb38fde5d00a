// What an op's row may state about the op besides how to run it: small enums that rewrites, plans,
// the quantizer, the import and the tests read. A row that states nothing is treated with caution:
// the first value of each enum is the one of an op of which nothing is known.
#ifndef TENON_OPS_OP_FACTS_H_
#define TENON_OPS_OP_FACTS_H_

namespace tenon {

// Signs of the results.
enum class Sign {
  kAny,
  kNeverNegative,  // zero or more, or NaN, whatever the inputs
  kOfInputs,       // not negative where no input of the result's dtype is
};

// The op's part where nodes change their floating dtype (graph_rewrite/dtype_regions.h). An op that
// only moves elements (OpRow::moves_elements) goes along in any case.
enum class PrecisionRole {
  kFloat,     // stays in float where a graph is converted to bfloat16
  kFollows,   // computes well in bfloat16: goes along with a contraction whose result it reads
  kLeads,     // a contraction, for whose sake a region changes its dtype
  kAsStated,  // never changes the dtype that the graph states: the op is about dtypes
};

// What becomes of the op where a graph computes in 8-bit integers: what the quantizer and the rules
// on quantized regions make of one that reads or gives dequantized data.
enum class OnIntegers {
  kNone,              // needs floats
  kContraction,       // its constant weights and its data become 8-bit integers
  kFusedContraction,  // likewise, with fused_ops; the quantizer meets none
  kRearranges,        // the same op on integers: all elements of input 0, in another order or shape
  kSelects,           // the same op on integers: some of the elements of input 0
  kPads,              // the same op on integers, with the integer that stands for 0
  kPools,             // Quantized…: one range before and behind
  kJoins,             // the same op on integers of one range; the last input is the axis
  kAdds,              // two operands with a range each
  kAverages,          // sums of integers, scaled
  kRounds,            // rounds floats to the steps of integers: QuantizeV2 and Dequantize in one
};

// What the import makes of the op.
enum class ImportRole {
  kNone,
  kValue,              // holds or passes on a value: nothing has to wait for it
  kHandle,             // a resource variable, by its handle
  kReference,          // a variable of TensorFlow 1, by reference
  kReads,              // reads the variable, or something about it, whose handle is input 0
  kHint,               // takes a handle and changes nothing
  kRestores,           // reads a checkpoint
  kTable,              // a lookup table, which has to be filled
  kMutableTable,       // a lookup table that begins empty
  kFillsTable,         // fills the table of input 0 from tensors
  kFillsTableFromText  // fills it from a text file
};

// How the op calls functions, which are attributes of the node.
enum class ControlFlow {
  kNone,
  kIf,     // one of two, by input 0; the other inputs are arguments
  kCase,   // one of a list, by input 0; the other inputs are arguments
  kWhile,  // a condition and a body, over and over; all inputs are arguments
};

}  // namespace tenon

#endif  // TENON_OPS_OP_FACTS_H_
