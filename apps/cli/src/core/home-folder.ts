import { homedir } from "node:os";

/** Returns `HOME` of the environment of the command, or the home folder of the user. */
export function homeFolder(env: NodeJS.ProcessEnv): string {
  return env.HOME === undefined || env.HOME === "" ? homedir() : env.HOME;
}
