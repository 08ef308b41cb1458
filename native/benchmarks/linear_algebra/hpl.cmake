# The BLAS itself is loaded at launch; old C libraries keep the loader in a separate library. Its messages are
# part of its time: they are counted.
set(libraries ${CMAKE_DL_LIBS} counted)
