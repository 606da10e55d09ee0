// One module to import(), so that the program's build makes one part of both.
export { createComputer } from "./computer.ts";
export { createSessionScreen } from "./session-screen.ts";
