# SPDX-License-Identifier: BSD-2-Clause
# fuzz_NAME: libFuzzer's targets, one for each parser of bytes that are not trusted. Only `make check-fuzz` builds
# them, with clang and its sanitizers.
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_FLAGS := $(OUR_CPPFLAGS) $(OUR_CFLAGS) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -DAGENTDIR='"$(agentdir)"'
# Whatever a target may need: the archive gives it what it does.
FUZZ_SOURCES := $(wildcard $(addsuffix /*.c,$(addprefix cuda-trace/,base cli foreign symbols inventory origin capture collectives recording \
	metrics attach driver proc yield inject))) \
	$(addprefix cuda-trace/profile/code/,code_lines.c cubin.c fatbin.c image_reader.c) \
	cuda-trace/profile/pc/disassembly_text.c \
	$(wildcard cuda-trace/report/*.c)
FUZZ_OBJS := $(FUZZ_SOURCES:%.c=$(B)/fuzz/obj/%.o)
FUZZ_PROGRAMS := $(FUZZ_TARGETS:%=$(B)/fuzz/fuzz_%)

$(FUZZ_OBJS): | $(SKELETONS) $(EMBEDDED)
$(B)/fuzz/obj/%.o: %.c
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(B)/fuzz/tool.a: $(FUZZ_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h $(B)/fuzz/tool.a $(B)/obj/generated/cri.pb-c.o
	$(call say,LD,$@)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< $(filter %.a %.o,$^) $(TOOL_LIBS) \
		$(shell $(PKG_CONFIG) --libs sqlite3)
