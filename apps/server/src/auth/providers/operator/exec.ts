import { spawn } from "node:child_process";
import {
  type CredentialProvider,
  type ItemReference,
  maxItems,
  type ProviderItem,
  type ProviderValues,
  type ProviderVault,
} from "../interface/credential-provider.ts";
import { ProviderFailure } from "../interface/provider-failure.ts";
import { fieldsOfText, itemOf, valuesOf } from "../stores/login-values.ts";

const vault: ProviderVault = { id: "command", name: "command" };
const maxOutputBytes = 2 ** 20;

/** The operator's programs, with their first arguments. */
export interface ExecCommands {
  /** Prints one item, whose path is its last argument. */
  readonly read: readonly string[];
  /** Prints a path on each line. */
  readonly list: readonly string[] | undefined;
}

/** JSON, or the form of `pass`: the password, then lines such as `login: ada` and an `otpauth://` URI. */
function fieldsOfOutput(output: string): Readonly<Record<string, unknown>> {
  if (output.trimStart().startsWith("{")) return fieldsOfText(output);
  const [password = "", ...lines] = output.split(/\r?\n/);
  const fields = new Map([["password", password]]);
  for (const line of lines) {
    const [, name = "totp", value = line] = /^(?!otpauth:)([A-Za-z][\w -]{0,60}):\s*(\S.*)$/.exec(line) ?? [];
    if ((value !== line || line.startsWith("otpauth://")) && !fields.has(name)) fields.set(name, value.trim());
  }
  return Object.fromEntries(fields);
}

/** @returns `undefined` when the program exits with another status than 0. */
async function run(command: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    // Its own process group, which ends with all of its children.
    detached: true,
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
  });
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group has ended.
    }
  };
  const { promise: exited, reject, resolve } = Promise.withResolvers<number | null>();
  child.once("error", reject).once("close", resolve);
  signal.addEventListener("abort", end, { once: true });
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxOutputBytes) end();
    else chunks.push(chunk);
  });
  try {
    const status = await exited;
    signal.throwIfAborted();
    if (size > maxOutputBytes)
      throw new ProviderFailure(`The command printed more than ${String(maxOutputBytes)} bytes.`);
    return status === 0 ? Buffer.concat(chunks).toString("utf8") : undefined;
  } catch (error) {
    if (error instanceof ProviderFailure || signal.aborted) throw error;
    throw new ProviderFailure("The command of credential_command cannot be started.", { cause: error });
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

/** Runs the operator's command with an empty environment. */
class ExecProvider implements CredentialProvider {
  readonly #commands: ExecCommands;

  constructor(commands: ExecCommands) {
    this.#commands = commands;
  }

  async test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    await this.items(signal);
    return [vault];
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    const { list } = this.#commands;
    if (list === undefined) return [];
    const output = await run(list, signal);
    if (output === undefined) throw new ProviderFailure("The command of credential_list_command failed.");
    return output
      .split(/\r?\n/)
      .filter((path) => path !== "")
      .slice(0, maxItems)
      .map((path) => itemOf(vault, { id: path, path, urls: [] }));
  }

  async read({ path }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    const prefix = `${vault.name}/`;
    const own = path.startsWith(prefix) ? path.slice(prefix.length) : path;
    // The program would take the path for an option, or leave its folder.
    if (!/^[^-\0][^\0]{0,1023}$/.test(own) || own.split("/").some((part) => part === ".." || part === "."))
      throw new ProviderFailure("The path must not begin with a hyphen and must not contain . or .. between slashes.");
    const output = await run([...this.#commands.read, own], signal);
    return output === undefined || output.trim() === "" ? undefined : valuesOf(fieldsOfOutput(output));
  }
}

export function createExecProvider(commands: ExecCommands): CredentialProvider {
  return new ExecProvider(commands);
}
