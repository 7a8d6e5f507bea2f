/** TensorRT, as tables.ts says it. */
export const TENSORRT = `
init createInferRuntime_INTERNAL createInferBuilder_INTERNAL createInferRefitter_INTERNAL
query getInferLibVersion
`;
