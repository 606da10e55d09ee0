import { randomBytes } from "node:crypto";
import type { OpenBrowser, Side } from "../../../bench/types.ts";
import { call } from "../../../connection/call.ts";
import type { CommandRequest, CommandSpec, GlobalFlags, Run } from "../../../core/types.ts";

export interface SessionSpecs {
  readonly create: CommandSpec;
  readonly end: CommandSpec;
  readonly list: CommandSpec;
}

const empty: CommandRequest = { params: {}, query: {}, body: undefined };
/** Of sessions of a run that cannot end them itself. */
const timeoutSeconds = 120;

/** Sessions of one run, found again by a tag. */
export class Sessions implements Side {
  readonly #specs: SessionSpecs;
  readonly #flags: GlobalFlags;
  readonly #run: Run;
  readonly #tags = { shoal_bench: randomBytes(6).toString("hex") };
  readonly #running = new Set<Promise<OpenBrowser>>();

  constructor(specs: SessionSpecs, flags: GlobalFlags, run: Run) {
    this.#specs = specs;
    this.#flags = flags;
    // An interrupted run still has to end its sessions.
    this.#run = { ...run, signal: new AbortController().signal };
  }

  open(): Promise<OpenBrowser> {
    const opening = this.#open(() => {
      this.#running.delete(opening);
    });
    this.#running.add(opening);
    opening.catch(() => this.#running.delete(opening));
    return opening;
  }

  async #open(onClosed: () => void): Promise<OpenBrowser> {
    const body = { tags: this.#tags, timeout_seconds: timeoutSeconds };
    const { value } = await call(this.#specs.create, { ...empty, body }, this.#flags, this.#run);
    const { cdp_ws_url: cdpUrl, session_id: id } = value as { cdp_ws_url: string; session_id: string };
    return {
      cdpUrl,
      close: async () => {
        await call(this.#specs.end, { ...empty, params: { id_or_name: id } }, this.#flags, this.#run);
        onClosed();
      },
    };
  }

  /** Sessions of this run that the service still lists as active. */
  async left(): Promise<number> {
    const query = { tags: this.#tags, limit: 100 };
    const { value } = await call(this.#specs.list, { ...empty, query }, this.#flags, this.#run);
    return (value as unknown[]).length;
  }

  /** Ends sessions that an interrupted run left. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#running].map(async (opening) => (await opening).close()));
  }
}
