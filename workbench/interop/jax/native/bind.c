// Binding one parameter to its buffer: address, batch strides, shape and strides in the parameter buffer, first value.
#include "handler.h"

// Write a pattern of 1, 2, 4 or 8 bytes over so many bytes.
static void fill(void *data, int64_t bytes, int64_t pattern, int64_t width) {
    if (pattern == 0 || width == 1) {
        __builtin_memset(data, (uint8_t)pattern, bytes);
    } else if (width == 2) {
        for (int64_t n = 0; n < bytes / 2; n++) ((int16_t *)data)[n] = (int16_t)pattern;
    } else if (width == 4) {
        for (int64_t n = 0; n < bytes / 4; n++) ((int32_t *)data)[n] = (int32_t)pattern;
    } else {
        for (int64_t n = 0; n < bytes / 8; n++) ((int64_t *)data)[n] = pattern;
    }
}

// An in-out parameter: equal shapes; where XLA did not give both the same memory the operand is copied over.
static Error *carry_over(Frame *frame, Call *call, const Param *param, const Buffer *in, const Buffer *out) {
    const int64_t *in_dims = in->dims, *out_dims = out->dims;
    int64_t bytes = param->size / (param->inner != 0 ? param->inner : 1);  // the components are an axis of the buffer
    for (int64_t axis = 0; axis < out->rank; axis++) {
        if (in_dims[axis] != out_dims[axis])
            return REFUSE_PARAM(frame, call, param,
                                "goes in and comes out, but with sizes %lld and %lld along one axis",
                                in_dims[axis], out_dims[axis]);
        bytes *= out_dims[axis];
    }
    if (in->data == out->data) return NULL;
    if (call->kernel->grain == ON_GPU) return copy_cuda(call, frame, out->data, in->data, bytes);
    __builtin_memcpy(out->data, in->data, bytes);
    return NULL;
}

// Check one parameter, note its address and batch strides, and write its shape and strides into the buffer.
static Error *bind(Frame *frame, Call *call, const int64_t *values, const int64_t *views, int64_t index) {
    const Param *param = &call->kernel->params[index];
    Bound *bound = &bounds_of(call)[index];
    if (param->value >= 0) {
        *bound = (Bound){.data = (char *)&values[param->value]};
        return NULL;
    }
    const Buffer *in = operand(frame, param->operand), *out = result(frame, param->result);
    Error *error = in != NULL ? check(frame, call, param, in, out != NULL) : NULL;
    if (error == NULL && out != NULL) error = check(frame, call, param, out, true);
    if (error == NULL && in != NULL && out != NULL) error = carry_over(frame, call, param, in, out);
    if (error != NULL) return error;

    const Buffer *source = out != NULL ? out : in;
    const int64_t *dims = source->dims, *own_dims = dims + call->axes;
    int64_t *shape = (int64_t *)(buffer_of(call) + param->offset + 8), *strides = shape + param->rank;
    if (param->kind == ACCUMULATOR) {
        shape[0] = 1;
        shape[1] = param->size;
    }
    int64_t stride = param->size;
    for (int64_t axis = param->rank - 1; axis >= 0; axis--) {
        if (param->view < 0) {
            shape[axis] = own_dims[axis];
            strides[axis] = stride;
        }
        stride *= own_dims[axis];
    }
    int64_t start = 0;
    if (param->view >= 0) {  // int64: bytes from the buffer's start, then the view's shape, then its strides in bytes
        start = views[param->view];
        __builtin_memcpy(shape, &views[param->view + 1], 16 * param->view_rank);
    }
    for (int64_t axis = call->axes - 1; axis >= 0; axis--) {
        bound->strides[axis] = dims[axis] == 1 ? 0 : stride;
        stride *= dims[axis];
    }
    bound->data = param->kind == SHAPE ? NULL : (char *)source->data + start;

    int64_t bytes = stride;  // after the last axis it is the size of the whole buffer
    if (param->fill_width == 0) return NULL;
    if (call->kernel->grain == ON_GPU)
        return fill_cuda(call, frame, source->data, bytes, param->fill_pattern, param->fill_width);
    fill(source->data, bytes, param->fill_pattern, param->fill_width);
    return NULL;
}
