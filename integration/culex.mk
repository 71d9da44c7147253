# culex.mk - for a Makefile: NAME_job.c, NAME_job.h and NAME_job.o from NAME.job, and NAME_job.hpp
# for whoever depends on it: C++ waits for $(CULEX_CPP_HEADERS).
#
#     include $(shell pkg-config --variable=pkgdatadir culex)/culex.mk
#     worker: worker.o $(CULEX_OUT)/hello_job.o
#     	$(CC) $(LDFLAGS) -o $@ $^ $(CULEX_LIBS)
#     %.o: %.c | $(CULEX_HEADERS)
#     	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
#
# These may be set before it is included, or on make's command line:
#
# CULEX_OUT        where generated files go (gen); it is on the include path
# CULEX_JOBS       where schemas are (.)
# CULEX_FLAGS      more arguments of `culexc gen`, such as -I DIR
# CULEX_CPP_FLAGS  more of them for NAME_job.hpp, such as --option namespace=acme
# CULEX_LIBRARY    what a program is linked with (culex): culex-client-redis, for instance, where it
#                  only enqueues; with culex-seal behind it where params are encrypted:
#                  CULEX_LIBRARY="culex-client-redis culex-seal"
# CULEXC           the compiler; in a cross build the one of the machine that builds
# PKG_CONFIG       pkg-config; in a cross build the one of the other machine
#
# An edited import regenerates, and a second run does nothing. The folders are relative to where
# make runs, because make cannot have a space in the name of a target.

# Nothing below is what a bare `make` is for.
culex_goal := $(.DEFAULT_GOAL)

PKG_CONFIG ?= pkg-config
CULEX_OUT ?= gen
CULEX_JOBS ?= .
CULEX_LIBRARY ?= culex
ifndef CULEXC
CULEXC := $(shell $(PKG_CONFIG) --variable=culexc $(firstword $(CULEX_LIBRARY)))
endif
CULEX_LIBS := $(shell $(PKG_CONFIG) --libs $(CULEX_LIBRARY))
CPPFLAGS += -I$(CULEX_OUT) $(shell $(PKG_CONFIG) --cflags $(CULEX_LIBRARY))

# A pattern rule with two targets runs once for both; any other rule would run once for each.
# culexc leaves a file alone that would not change, and make would then ask again every time.
$(CULEX_OUT)/%_job.c $(CULEX_OUT)/%_job.h: $(CULEX_JOBS)/%.job
	$(CULEXC) gen $(CULEX_FLAGS) --out $(CULEX_OUT) --depfile $(CULEX_OUT)/$*.job.d $<
	@touch $(CULEX_OUT)/$*_job.c $(CULEX_OUT)/$*_job.h

# An imported schema makes a header too. What is compiled may want any of them; which ones it read
# is known afterwards. They are named as targets, because make prefers its own rule for objects to
# one of yours that waits for files it has not heard of.
CULEX_HEADERS := $(patsubst $(CULEX_JOBS)/%.job,$(CULEX_OUT)/%_job.h,$(wildcard $(CULEX_JOBS)/*.job))
$(CULEX_HEADERS):

$(CULEX_OUT)/%_job.o: $(CULEX_OUT)/%_job.c | $(CULEX_HEADERS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# What nobody depends on is not made.
CULEX_CPP_HEADERS := $(CULEX_HEADERS:.h=.hpp)
$(CULEX_CPP_HEADERS):

$(CULEX_OUT)/%_job.hpp: $(CULEX_JOBS)/%.job
	$(CULEXC) gen --plugin cpp $(CULEX_FLAGS) $(CULEX_CPP_FLAGS) --out $(CULEX_OUT) \
		--depfile $(CULEX_OUT)/$*.hpp.d $<
	@touch $@

.PRECIOUS: $(CULEX_OUT)/%_job.c $(CULEX_OUT)/%_job.h $(CULEX_OUT)/%_job.hpp
-include $(wildcard $(CULEX_OUT)/*.d)
.DEFAULT_GOAL := $(culex_goal)
