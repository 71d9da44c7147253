# culex_add_jobs(TARGET [SCOPE PRIVATE|PUBLIC|INTERFACE]
#                FILES FILE.job... [IMPORT_DIRS DIR...] [ARGS ARG...]
#                [LIBRARY LIBRARY] [CPP [CPP_ARGS ARG...]])
#
# Generates NAME_job.c and NAME_job.h from each NAME.job, makes them part of TARGET, and links
# culex::culex to it, or LIBRARY: culex::client_redis, for instance, where TARGET only enqueues. With SCOPE PUBLIC, what links TARGET may include the headers too; PRIVATE
# is the default; INTERFACE is for a TARGET that compiles nothing itself. IMPORT_DIRS are where
# imports are looked for; ARGS go to `culexc gen`. An edited import regenerates. With CPP there is
# NAME_job.hpp too, for C++17 and later: `culexc gen --plugin cpp`, to which CPP_ARGS go, as
# CPP_ARGS --option namespace=acme.
#
# The files land in a folder per target, so that two targets may share a schema.

function(culex_add_jobs target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CPP" "SCOPE;LIBRARY" "FILES;IMPORT_DIRS;ARGS;CPP_ARGS")
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "culex_add_jobs: there is no target '${target}'")
  elseif(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "culex_add_jobs: cannot make sense of '${arg_UNPARSED_ARGUMENTS}'")
  elseif(NOT arg_FILES)
    message(FATAL_ERROR "culex_add_jobs: no FILES are given")
  elseif(arg_CPP_ARGS AND NOT arg_CPP)
    message(FATAL_ERROR "culex_add_jobs: CPP_ARGS are for CPP, which is not given")
  endif()
  if(NOT arg_LIBRARY)
    set(arg_LIBRARY culex::culex)
  endif()
  if(NOT arg_SCOPE)
    set(arg_SCOPE PRIVATE)
  elseif(NOT arg_SCOPE MATCHES "^(PRIVATE|PUBLIC|INTERFACE)$")
    message(FATAL_ERROR "culex_add_jobs: SCOPE is PRIVATE, PUBLIC or INTERFACE, not '${arg_SCOPE}'")
  endif()
  get_target_property(type "${target}" TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY" AND NOT arg_SCOPE STREQUAL "INTERFACE")
    message(FATAL_ERROR "culex_add_jobs: '${target}' compiles nothing, so it needs SCOPE INTERFACE")
  elseif(arg_SCOPE STREQUAL "INTERFACE" AND NOT type STREQUAL "INTERFACE_LIBRARY")
    message(FATAL_ERROR "culex_add_jobs: SCOPE INTERFACE is for an INTERFACE library, "
      "which '${target}' is not")
  endif()

  set(imports "")
  foreach(dir IN LISTS arg_IMPORT_DIRS)
    cmake_path(ABSOLUTE_PATH dir BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND imports -I "${dir}")
  endforeach()
  set(out "${CMAKE_CURRENT_BINARY_DIR}/culex-gen/${target}")
  file(MAKE_DIRECTORY "${out}")
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    set_property(TARGET "${target}" APPEND PROPERTY CULEX_SCHEMAS "${file}")
    cmake_path(GET file STEM LAST_ONLY name)
    # One that the build makes has to be there before any call reads it as a neighbour.
    get_source_file_property(is_made "${file}" GENERATED)
    if(is_made)
      set_property(TARGET "${target}" APPEND PROPERTY CULEX_SCHEMAS_MADE "${file}")
    endif()
    get_source_file_property(is_taken "${out}/${name}_job.c" GENERATED)
    if(is_taken)
      message(FATAL_ERROR "culex_add_jobs: '${target}' has two files called ${name}.job")
    endif()
    # culexc leaves a file alone that would not change, and make would then ask again every time.
    set(touch "")
    if(CMAKE_GENERATOR MATCHES "Makefiles")
      set(touch COMMAND "${CMAKE_COMMAND}" -E touch "${out}/${name}_job.c" "${out}/${name}_job.h")
    endif()
    # One call of culexc sees one file, so it is told all that the target has in the end: two must
    # not need one name in C.
    set(beside "--beside;$<JOIN:$<TARGET_PROPERTY:${target},CULEX_SCHEMAS>,;--beside;>")
    # Absolute paths throughout, so that the depfile means the same to every generator.
    add_custom_command(
      OUTPUT "${out}/${name}_job.c" "${out}/${name}_job.h"
      COMMAND culex::culexc gen ${imports} "${beside}" ${arg_ARGS} --out "${out}"
        --depfile "${out}/${name}_job.d" -- "${file}"
      ${touch}
      DEPENDS "${file}" culex::culexc "$<TARGET_PROPERTY:${target},CULEX_SCHEMAS_MADE>"
      DEPFILE "${out}/${name}_job.d"
      COMMENT "Generating ${name}_job.c and ${name}_job.h"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND sources "${out}/${name}_job.c" "${out}/${name}_job.h")
    if(arg_CPP)
      set(touch "")
      if(CMAKE_GENERATOR MATCHES "Makefiles")
        set(touch COMMAND "${CMAKE_COMMAND}" -E touch "${out}/${name}_job.hpp")
      endif()
      add_custom_command(
        OUTPUT "${out}/${name}_job.hpp"
        COMMAND culex::culexc gen --plugin cpp ${imports} "${beside}" ${arg_CPP_ARGS} --out "${out}"
          --depfile "${out}/${name}_job_hpp.d" -- "${file}"
        ${touch}
        DEPENDS "${file}" culex::culexc "$<TARGET_PROPERTY:${target},CULEX_SCHEMAS_MADE>"
        DEPFILE "${out}/${name}_job_hpp.d"
        COMMENT "Generating ${name}_job.hpp"
        COMMAND_EXPAND_LISTS VERBATIM)
      list(APPEND sources "${out}/${name}_job.hpp")
    endif()
  endforeach()

  if(arg_SCOPE STREQUAL "INTERFACE")
    target_sources("${target}" INTERFACE ${sources})
  else()
    target_sources("${target}" PRIVATE ${sources})
  endif()
  target_include_directories("${target}" "${arg_SCOPE}" "$<BUILD_INTERFACE:${out}>")
  target_link_libraries("${target}" "${arg_SCOPE}" "${arg_LIBRARY}")
endfunction()
