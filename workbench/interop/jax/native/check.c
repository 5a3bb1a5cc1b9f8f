// Does what XLA hands over fit the description? Errors with names, the API version, and one buffer's dtype, rank and
// sizes.
#include "handler.h"

// An XLA API call; the error that it returns is XLA's.
static Error *ask(Api *api, int32_t function, void *arguments) {
    Error *(*call)(void *) = api->functions[function];
    return call(arguments);
}

// An error with this text and code, which XLA owns.
__attribute__((cold, noinline)) static Error *error_of(Api *api, const char *text, int32_t code) {
    ErrorCreate arguments = {.struct_size = STRUCT_SIZE(ErrorCreate, errc), .message = (char *)text, .errc = code};
    return ask(api, XLA_FFI_Error_Create, &arguments);
}

// An INVALID_ARGUMENT with a formatted message. Strings come as integers: in the C ABI both are one 8-byte argument.
__attribute__((cold, noinline)) static Error *refuse(Frame *frame, const char *format, int64_t a, int64_t b, int64_t c,
                                                     int64_t d) {
    char text[512];
    snprintf(text, sizeof text, format, a, b, c, d);
    return error_of(frame->api, text, INVALID_ARGUMENT);
}
#define FOUR(a, b, c, d, ...) a, b, c, d
#define REFUSE(frame, ...) REFUSE_WITH(frame, __VA_ARGS__, 0, 0, 0, 0)
#define REFUSE_WITH(frame, format, ...) refuse(frame, format, FOUR(__VA_ARGS__, 0))
#define REFUSE_PARAM(frame, call, param, what, ...) \
    REFUSE(frame, "kernel '%s', parameter '%s': " what, (int64_t)(call)->kernel->name, (int64_t)(param)->name, \
           __VA_ARGS__)

// Whether an XLA API call failed; its error is given back.
static bool failed(Api *api, Error *error) {
    if (error == NULL) return false;
    ErrorDestroy arguments = {.struct_size = STRUCT_SIZE(ErrorDestroy, error), .error = error};
    void (*destroy)(void *) = api->functions[XLA_FFI_Error_Destroy];
    destroy(&arguments);
    return true;
}

// The question that XLA asks at registration: which API version is this? Null if it asks something else.
static MetadataExtension *metadata_asked(Frame *frame) {
    for (Extension *extension = frame->extension_start; extension != NULL; extension = extension->next)
        if (extension->type == EXTENSION_METADATA) return (MetadataExtension *)extension;
    return NULL;
}

static bool answer_metadata(Frame *frame, int32_t traits) {
    MetadataExtension *asked = metadata_asked(frame);
    if (asked == NULL) return false;
    Metadata *metadata = asked->metadata;
    metadata->api_version.major_version = 0;
    metadata->api_version.minor_version = 1;
    metadata->traits = traits;
    return true;
}

static Buffer *operand(Frame *frame, int64_t index) {
    return index < 0 ? NULL : ((Buffer **)frame->args.args)[index];
}

static Buffer *result(Frame *frame, int64_t index) {
    return index < 0 ? NULL : ((Buffer **)frame->rets.rets)[index];
}

static int64_t elements(const Buffer *buffer) {
    const int64_t *dims = buffer->dims;
    int64_t total = 1;
    for (int64_t n = 0; n < buffer->rank; n++) total *= dims[n];
    return total;
}

// The attribute with this number; null if it is no array of int64.
static Array *int64_array(Frame *frame, int64_t index) {
    const int32_t *kinds = frame->attrs.types;
    Array *array = ((Array **)frame->attrs.attrs)[index];
    return kinds[index] == ATTR_ARRAY && array->dtype == DTYPE_INT64 ? array : NULL;
}

static const char *dtype_name(int64_t code) {
    return DTYPE_NAMES[(uint64_t)code < DTYPE_COUNT ? code : 0];
}

// Dimensions of a parameter's buffer besides batches: its rank and the components' axis of a vector.
static int64_t own_rank(const Param *param) {
    return param->rank + (param->inner != 0);
}

// Null where the buffer fits the description; a `whole` one must have every batch, others may have size 1 there.
static Error *check(Frame *frame, Call *call, const Param *param, const Buffer *buffer, bool whole) {
    if (buffer->dtype != param->dtype)
        return REFUSE_PARAM(frame, call, param, "takes %s elements, was given %s",
                            (int64_t)dtype_name(param->dtype), (int64_t)dtype_name(buffer->dtype));
    const int64_t *dims = buffer->dims;
    int64_t own = own_rank(param), given = buffer->rank - call->axes;
    if (given != own)
        return REFUSE_PARAM(frame, call, param, "takes %lld dimensions besides batch axes, was given %lld", own, given);
    if (param->inner != 0 && dims[buffer->rank - 1] != param->inner)
        return REFUSE_PARAM(frame, call, param, "its last axis holds the %lld components of a vector, was given %lld",
                            param->inner, dims[buffer->rank - 1]);
    for (int64_t axis = 0; axis < call->axes; axis++) {
        if (dims[axis] != call->sizes[axis] && (whole || dims[axis] != 1))
            return REFUSE_PARAM(frame, call, param, "a batch axis has size %lld here, was given %lld",
                                call->sizes[axis], dims[axis]);
    }
    return NULL;
}

// A size of the launch that is written as -1 - (4 * parameter + axis): that of the parameter's array in this call.
__attribute__((noinline)) static int64_t array_size(Frame *frame, const Kernel *kernel, int64_t code) {
    uint64_t place = ~code;
    const Param *param = &kernel->params[place / 4];
    const Buffer *out = result(frame, param->result);
    const Buffer *buffer = out != NULL ? out : operand(frame, param->operand);
    const int64_t *dims = buffer->dims;
    return dims[buffer->rank - own_rank(param) + (int64_t)(place % 4)];
}

typedef struct Condition {  // that the constant and the terms add up to an index of a parameter's array
    int64_t param, axis;
    int64_t wraps;          // whether indices also count from the end
    int64_t constant;
    int64_t term_count;
    struct {
        int64_t size;       // as `array_size` reads it
        int64_t factor;
    } terms[];
} Condition;

// Conditions on sizes that were not known when JAX traced, one after the other. A sum beyond int32 says nothing.
__attribute__((noinline)) static Error *within(Frame *frame, const Kernel *kernel, const Array *array) {
    const int64_t *word = array->data, *end = word + array->size;
    while (word < end) {
        const Condition *condition = (const Condition *)word;
        int64_t size = array_size(frame, kernel, ~(4 * condition->param + condition->axis));
        int64_t sum = condition->constant;
        for (int64_t n = 0; n < condition->term_count; n++)
            sum += array_size(frame, kernel, condition->terms[n].size) * condition->terms[n].factor;
        int64_t least = condition->wraps ? -size : 0;
        if ((sum < least || sum >= size) && sum == (int32_t)sum)
            return REFUSE(frame, "kernel '%s', parameter '%s': has %lld elements along an axis; "
                          "the launch would ask for index %lld",
                          (int64_t)kernel->name, (int64_t)kernel->params[condition->param].name, size, sum);
        word = (const int64_t *)&condition->terms[condition->term_count];
    }
    return NULL;
}
