// DecodeCSV: columns of lines of comma-separated values (RFC 4180), one tensor per column.
#include "kernels/strings/csv.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CsvShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ReadCsvDialect(c.attrs(), c.num_inputs() - 1).status());
  for (int i = 1; i < c.num_inputs(); ++i) {
    const Shape& value = c.input(i);
    if (value.has_rank() && value.rank() > 1) {
      return InvalidArgument("record_defaults must be scalars or vectors, but one has shape ",
                             value.ToString());
    }
    if (value.IsComplete() && value.num_elements() > 1) {
      return InvalidArgument("a record default of ", value.num_elements(), " elements");
    }
    c.set_output(i - 1, c.input(0));
  }
  return absl::OkStatus();
}

const OpRegistration decode_csv_op({
    .name = "DecodeCSV",
    .inputs = "records: string, record_defaults: OUT_TYPE",
    .outputs = "output: OUT_TYPE",
    .attrs = "OUT_TYPE: list(type); field_delim: string = ,; use_quote_delim: bool = true; "
             "na_value: string = ; select_cols: list(int) = []",
    .shape = CsvShape,
    .reference = DecodeCsvKernel,
});

}  // namespace
}  // namespace tenon
