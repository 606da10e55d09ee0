export { BoundedBytes, readAtMost } from "./bounded-bytes.ts";
export { isRunning } from "./is-running.ts";
export { joinChunks } from "./join-chunks.ts";
export { socketPair } from "./socket-pair.ts";
