#!/bin/sh
# icu_data.sh LIBICUDATA FOLDER VERSION: ICU's data package without what kernels/text does not read (locales,
# converters, dictionaries): FOLDER/icudt<VERSION>l.dat, which has character names and normal forms.
set -eu
mkdir -p "$2"
package=$2/icudt$3l.dat
PATH=$PATH:/usr/sbin
objcopy -O binary --only-section=.rodata "$1" "$package.all"
# icupkg takes the prefix of its entries from the file's name.
mv "$package.all" "$package"
icupkg -l "$package" | grep -vE '\.(icu|nrm)$' > "$2/unused.lst"
icupkg -r "$2/unused.lst" "$package"
