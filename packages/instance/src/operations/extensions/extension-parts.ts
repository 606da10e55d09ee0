/** Loaded with a session's first extension. */
export { withExtensions } from "./take-extensions.ts";
export { unpackExtension } from "./unpack-extension.ts";
