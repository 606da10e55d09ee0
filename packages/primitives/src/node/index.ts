export { isRunning } from "./is-running.ts";
export { socketPair } from "./socket-pair.ts";
