// One module to import(), so that the build puts both into one file.
export { createComputer } from "./computer.ts";
export { createSessionScreen } from "./session-screen.ts";
