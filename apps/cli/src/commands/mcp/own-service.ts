import { messageOf } from "@shoal/primitives";
import { reach, type Reached } from "../../connection/reach.ts";
import { defaultDataDir, isUnconfigured } from "../../connection/settings.ts";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { type ServiceProcess, startService } from "../../core/start-service.ts";
import type { GlobalFlags, Run } from "../../core/types.ts";

/**
 * Finds the service of an MCP client with each call, so that the client may start before it and a key may be stored later.
 * Without any configured service, it runs one on this machine while the client is connected.
 */
export class OwnService {
  readonly #flags: GlobalFlags;
  readonly #run: Run;
  #starting: Promise<ServiceProcess> | undefined;

  constructor(flags: GlobalFlags, run: Run) {
    this.#flags = flags;
    this.#run = run;
  }

  /** @throws {ExitError} if no service is configured, or if its key is missing. */
  find(): Reached {
    return reach(this.#flags, this.#run);
  }

  /** @throws {ExitError} if no service is configured and none can start, or if its key is missing. */
  async reach(): Promise<Reached> {
    if (!isUnconfigured(this.#flags, this.#run.env)) return this.find();
    const found = this.#findHere();
    if (found !== undefined && (await answers(found.baseUrl))) return found;
    const { apiKey, baseUrl } = await this.#start();
    const project = this.#flags.project;
    return { baseUrl, apiKey, ...(project !== undefined && { project }) };
  }

  /** Ends the service that `reach` has started. */
  async close(): Promise<void> {
    await (await this.#starting?.catch(() => undefined))?.stop();
  }

  #findHere(): Reached | undefined {
    try {
      return this.find();
    } catch (error) {
      if (error instanceof ExitError) return undefined;
      throw error;
    }
  }

  #start(): Promise<ServiceProcess> {
    const { env, terminal } = this.#run;
    if (this.#starting === undefined && this.#flags.quiet !== true)
      terminal.stderr.write(
        "No service is configured. Starting one on this machine until the MCP client disconnects.\n",
      );
    this.#starting ??= startService(defaultDataDir(env), ["--log-level", "warn"], env).catch((error: unknown) => {
      // The next call tries again.
      this.#starting = undefined;
      throw new ExitError(
        exitCodes.start.status,
        `No service is configured, and none could start on this machine. ${messageOf(error)}`,
        "Run `shoal doctor`, or set SHOAL_BASE_URL and SHOAL_API_KEY for the MCP client.",
      );
    });
    return this.#starting;
  }
}

async function answers(baseUrl: string): Promise<boolean> {
  try {
    return (await fetch(`${baseUrl}/health`)).ok;
  } catch {
    return false;
  }
}
