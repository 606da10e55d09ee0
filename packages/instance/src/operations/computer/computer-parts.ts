// One module to import(), so that the build puts both into one file.
export { Computer } from "./computer.ts";
export { createSessionScreen } from "./session-screen.ts";
