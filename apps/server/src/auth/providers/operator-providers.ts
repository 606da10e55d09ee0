import type { Config } from "../../config/settings.ts";
import { StartError } from "../../config/start-error.ts";
import { AskedProvider } from "./asked-provider.ts";
import type { CredentialProvider } from "./interface/credential-provider.ts";
import { createEnvProvider } from "./operator/env.ts";
import { createExecProvider } from "./operator/exec.ts";
import { createFileProvider } from "./operator/file.ts";

/** Logins of the operator for chosen projects. */
export interface OperatorProviders {
  of(projectId: string): Promise<readonly { readonly name: string; readonly asked: AskedProvider }[]>;
}

type OperatorSettings = Pick<
  Config,
  | "credential_command"
  | "credential_env_prefix"
  | "credential_files"
  | "credential_list_command"
  | "credential_projects"
>;

/** Changed files and entries are visible after this time. */
const cacheMs = 30_000;

function providersOf(settings: OperatorSettings, env: NodeJS.ProcessEnv): Record<string, CredentialProvider> {
  const { credential_command: read, credential_env_prefix: prefix, credential_files: folder } = settings;
  const list = settings.credential_list_command;
  if (list.length > 0 && read.length === 0)
    throw new StartError("credential_list_command needs credential_command.", {
      hint: "Set credential_command to the program that prints one item.",
    });
  return {
    ...(prefix !== undefined && { env: createEnvProvider(prefix, env) }),
    ...(folder !== undefined && { files: createFileProvider(folder) }),
    ...(read.length > 0 && { command: createExecProvider({ read, list: list.length > 0 ? list : undefined }) }),
  };
}

/** @param nameOf - of a project. @throws {StartError} for settings that contradict each other. */
export function createOperatorProviders(
  settings: OperatorSettings,
  {
    env,
    nameOf,
    timeoutMs,
  }: {
    readonly env: NodeJS.ProcessEnv;
    readonly nameOf: (projectId: string) => Promise<string | undefined>;
    readonly timeoutMs: number;
  },
): OperatorProviders {
  const providers = Object.entries(providersOf(settings, env)).map(([name, provider]) => ({
    name,
    asked: new AskedProvider({
      open: () => Promise.resolve({ provider, token: "" }),
      timeoutMs,
      cacheMs,
      now: Date.now,
    }),
  }));
  const projects = new Set(settings.credential_projects);
  return {
    async of(projectId) {
      if (providers.length === 0) return [];
      const isAllowed = projects.has("*") || projects.has(projectId) || projects.has((await nameOf(projectId)) ?? "");
      return isAllowed ? providers : [];
    },
  };
}
