# The BLAS itself is loaded at launch; old C libraries keep the loader in a library of its own.
set(libraries ${CMAKE_DL_LIBS})
