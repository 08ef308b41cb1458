# Declarations of benchmarks, which are JSON, as C++: `declared/<program>.hpp` from <program>.json. See
# docs/adding-a-benchmark.md, and assay.catalogue.declaration_files, which reads the same files.

# The value at a place of a JSON text, again as JSON: string(JSON GET) takes the quotes of a string, and turns true
# into ON and null into nothing.
function(json_value result text)
  string(JSON type TYPE "${text}" ${ARGN})
  string(JSON value GET "${text}" ${ARGN})
  if(type STREQUAL "STRING")
    string(REPLACE "\\" "\\\\" value "${value}")
    string(REPLACE "\"" "\\\"" value "${value}")
    string(REPLACE "\n" "\\n" value "${value}")
    set(value "\"${value}\"")
  elseif(type STREQUAL "BOOLEAN")
    string(TOLOWER "${value}" value)
    string(REGEX REPLACE "^on$" "true" value "${value}")
    string(REGEX REPLACE "^off$" "false" value "${value}")
  elseif(type STREQUAL "NULL")
    set(value null)
  endif()
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

# A string, number or boolean as C++; the last value where the place is absent or null.
function(cpp_value result text place otherwise)
  string(JSON type ERROR_VARIABLE absent TYPE "${text}" ${place})
  string(JSON value ERROR_VARIABLE absent GET "${text}" ${place})
  if(absent OR type STREQUAL "NULL")
    set(value "${otherwise}")
  elseif(type STREQUAL "STRING")
    set(value "R\"text(${value})text\"")
  elseif(type STREQUAL "BOOLEAN")
    string(REPLACE "ON" "true" value "${value}")
    string(REPLACE "OFF" "false" value "${value}")
  endif()
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

# Names of the members of an object, or indices of a list; empty where it is absent.
function(json_places result text place)
  set(places)
  string(JSON type ERROR_VARIABLE absent TYPE "${text}" ${place})
  string(JSON count ERROR_VARIABLE absent LENGTH "${text}" ${place})
  if(NOT absent AND count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
      set(name ${index})
      if(type STREQUAL "OBJECT")
        string(JSON name MEMBER "${text}" ${place} ${index})
      endif()
      list(APPEND places ${name})
    endforeach()
  endif()
  set(${result} "${places}" PARENT_SCOPE)
endfunction()

# A list of strings as C++: empty where they are numbers, or where the place is absent.
function(cpp_words result text place)
  set(words)
  json_places(indices "${text}" ${place})
  foreach(index IN LISTS indices)
    string(JSON type TYPE "${text}" ${place} ${index})
    if(type STREQUAL "STRING")
      string(JSON word GET "${text}" ${place} ${index})
      string(APPEND words "\"${word}\", ")
    endif()
  endforeach()
  set(${result} "{${words}}" PARENT_SCOPE)
endfunction()

# A declaration in which each record with `like` has the members of the shared record of that name.
function(resolve_shared result file)
  file(READ ${file} text)
  get_filename_component(folder ${file} DIRECTORY)
  foreach(kind axes metrics work parts)
    json_places(indices "${text}" ${kind})
    foreach(index IN LISTS indices)
      string(JSON name ERROR_VARIABLE absent GET "${text}" ${kind} ${index} like)
      if(absent)
        continue()
      endif()
      string(JSON own GET "${text}" ${kind} ${index})
      string(JSON own REMOVE "${own}" like)
      set(missing TRUE)
      foreach(place ${folder} ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks)
        if(missing AND EXISTS ${place}/shared.json)
          set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${place}/shared.json)
          file(READ ${place}/shared.json shared)
          string(JSON record ERROR_VARIABLE missing GET "${shared}" ${kind} ${name})
        endif()
      endforeach()
      if(missing)
        message(FATAL_ERROR "${file}: no shared.json has '${name}' among its ${kind}")
      endif()
      json_places(members "${own}" "")
      foreach(member IN LISTS members)
        json_value(value "${own}" ${member})
        string(JSON record SET "${record}" ${member} "${value}")
      endforeach()
      string(JSON text SET "${text}" ${kind} ${index} "${record}")
    endforeach()
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Level -> name -> number.
function(cpp_numbers result text)
  set(numbers)
  json_places(levels "${text}" numbers)
  foreach(level IN LISTS levels)
    set(named)
    json_places(names "${text}" "numbers;${level}")
    foreach(name IN LISTS names)
      string(JSON number GET "${text}" numbers ${level} ${name})
      string(APPEND named "{\"${name}\", ${number}}, ")
    endforeach()
    string(APPEND numbers "{\"${level}\", {${named}}}, ")
  endforeach()
  set(${result} "{${numbers}}" PARENT_SCOPE)
endfunction()

function(cpp_axes result text)
  set(axes)
  json_places(indices "${text}" axes)
  foreach(index IN LISTS indices)
    string(JSON axis GET "${text}" axes ${index})
    cpp_value(name "${axis}" name "")
    cpp_value(meaning "${axis}" meaning "")
    cpp_words(words "${axis}" values)
    cpp_value(own "${axis}" default "")
    cpp_value(value "${axis}" program_default "${own}")
    if(NOT value MATCHES "^R")
      set(value "std::int64_t{${value}}")
    endif()
    cpp_value(unit "${axis}" unit "\"\"")
    cpp_value(least "${axis}" minimum 1)
    cpp_value(most "${axis}" maximum largest_number)
    cpp_numbers(numbers "${axis}")
    string(APPEND axes "        {${name},\n         ${meaning},\n         ${words}, ${value}, ${unit}, ${least}, ${most}, ${numbers}},\n")
  endforeach()
  set(${result} "{\n${axes}    }" PARENT_SCOPE)
endfunction()

# Kernel or part -> quantity -> terms of its amount. A term has the powers of its numbers: a single power is that of
# the order n. A number is a term without powers; what the program counts has no terms.
function(cpp_amounts result text kind)
  set(work)
  json_places(kernels "${text}" ${kind})
  foreach(kernel IN LISTS kernels)
    string(JSON stated GET "${text}" ${kind} ${kernel})
    set(amounts)
    json_places(quantities "${stated}" "")
    foreach(quantity IN LISTS quantities)
      string(JSON type TYPE "${stated}" ${quantity})
      string(JSON amount GET "${stated}" ${quantity})
      if(type STREQUAL "ARRAY")
        string(REGEX REPLACE "(\"[^\"]+\") : ([0-9]+)" "{\\1, \\2}" amount "${amount}")
        string(REGEX REPLACE ",[ \n\t]*([0-9]+)[ \n\t]*\\]" ", {{\"n\", \\1}}]" amount "${amount}")
        string(REPLACE "[" "{" amount "${amount}")
        string(REPLACE "]" "}" amount "${amount}")
      elseif(type STREQUAL "NUMBER")
        set(amount "{{${amount}, 1, {}}}")
      else()
        set(amount "{}")
      endif()
      string(APPEND amounts "{\"${quantity}\", ${amount}}, ")
    endforeach()
    string(APPEND work "        {\"${kernel}\", {${amounts}}},\n")
  endforeach()
  set(${result} "{\n${work}    }" PARENT_SCOPE)
endfunction()

# Writes generated/declared/<program>.hpp.
function(declare file)
  get_filename_component(program ${file} NAME_WE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  resolve_shared(text ${file})
  cpp_value(name "${text}" name "")
  cpp_value(measures "${text}" measures "\"\"")
  cpp_words(kernels "${text}" kernels)
  cpp_axes(axes "${text}")
  cpp_amounts(work "${text}" work)
  cpp_amounts(parts "${text}" parts)
  cpp_value(launcher "${text}" launcher "")
  if(launcher MATCHES "mpi")  # cpus of a rank; the number of ranks is the launcher's
    set(min_cpus 1)
    cpp_value(max_cpus "${text}" max_rank_cpus 0)
    string(JSON type ERROR_VARIABLE absent TYPE "${text}" max_rank_cpus)
    if(absent)
      set(max_cpus 1)
    endif()
  else()
    cpp_value(min_cpus "${text}" min_cpus 1)
    cpp_value(max_cpus "${text}" max_cpus 0)
  endif()
  cpp_value(own_threads "${text}" own_threads false)
  cpp_value(solves "${text}" solves false)
  cpp_value(devices "${text}" devices false)
  cpp_value(folder "${text}" folder false)
  cpp_value(message_threads "${text}" message_threads "\"\"")
  string(JSON text SET "${text}" schema 1)
  file(CONFIGURE OUTPUT generated/declared/${program}.hpp @ONLY CONTENT [[
// The declaration of @program@, from its JSON.
#pragma once

#include "harness/benchmark.hpp"

namespace assay::declared {

inline const Declaration @program@{
    .name = @name@,
    .measures = @measures@,
    .kernels = @kernels@,
    .axes = @axes@,
    .work = @work@,
    .parts = @parts@,
    .min_cpus = @min_cpus@,
    .max_cpus = @max_cpus@,
    .own_threads = @own_threads@,
    .devices = @devices@,
    .folder = @folder@,
    .solves = @solves@,
    .message_threads = @message_threads@,
    .text = R"json(@text@)json",
};

}  // namespace assay::declared
]])
endfunction()
