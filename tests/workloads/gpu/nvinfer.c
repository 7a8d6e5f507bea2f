/* A stand-in for what TensorRT exports: see log.h. All else is called through tables of virtual functions, which have no names. */
#include "log.h"

KEEPS_BOOK("tensorrt")

EXPORTED void *createInferRuntime_INTERNAL(void *logger, int32_t version) {
  (void)version;
  NOTE("createInferRuntime_INTERNAL", 0, "");
  return logger;
}
EXPORTED void *createInferBuilder_INTERNAL(void *logger, int32_t version) {
  (void)version;
  NOTE("createInferBuilder_INTERNAL", 0, "");
  return logger;
}
EXPORTED int32_t getInferLibVersion(void) {
  NOTE("getInferLibVersion", 0, "");
  return 101300;
}
