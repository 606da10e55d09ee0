import { join, resolve } from "node:path";
import { homeFolder } from "../../core/home-folder.ts";
import { type Client, clients } from "../mcp/install/clients.ts";
import type { ClientName } from "../mcp/mcp-flags.ts";

export interface SkillClient extends Pick<Client, "name" | "sign" | "title"> {
  /** The folder that contains a folder for each skill. */
  readonly skills: string;
}

const shared = [".agents", "skills"];
/** Folders in a project, and in the home if it is the same. @see the documentation of each client about skills. */
const folders: Readonly<Partial<Record<ClientName, readonly string[]>>> = {
  "claude-code": [".claude", "skills"],
  codex: shared,
  cursor: shared,
  gemini: shared,
  vscode: shared,
  windsurf: [".windsurf", "skills"],
};

/** @param project - a folder; `undefined` for the skills of the user. */
export function skillClients(env: NodeJS.ProcessEnv, project: string | undefined): readonly SkillClient[] {
  const home = homeFolder(env);
  return clients(env).flatMap(({ name, sign, title }) => {
    const folder = folders[name];
    if (folder === undefined) return [];
    if (project !== undefined) return [{ name, sign, title, skills: resolve(project, ...folder) }];
    const isBelowSign = name === "claude-code" || name === "windsurf";
    return [{ name, sign, title, skills: isBelowSign ? join(sign, "skills") : join(home, ...folder) }];
  });
}
