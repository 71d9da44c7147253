/* culex/culex.h - everything an application and its generated code need. */
#ifndef CULEX_CULEX_H
#define CULEX_CULEX_H

#include <culex/client.h>
#include <culex/codec.h>
#include <culex/error.h>
#include <culex/exception.h>
#include <culex/export.h>
#include <culex/job.h>
#include <culex/maintain.h>
#include <culex/typed.h>
#include <culex/types.h>
#include <culex/worker.h>

#define CULEX_VERSION "0.1.0"

#endif
