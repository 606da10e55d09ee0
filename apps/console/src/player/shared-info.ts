import { useEffect, useState } from "react";
import * as z from "zod/mini";

const SharedInfo = z.object({
  started_at: z.optional(z.nullable(z.string())),
  finished_at: z.optional(z.nullable(z.string())),
  /** Absent for sessions without a name. */
  session_name: z.optional(z.string()),
  failure_reason: z.optional(z.string()),
  marks: z.array(z.object({ title: z.string(), offset_seconds: z.number() })),
  /** The film is complete. */
  ready: z.boolean(),
  /** Of the film so far. */
  recorded_bytes: z.optional(z.number()),
});
export type SharedInfo = z.output<typeof SharedInfo>;

const Refusal = z.object({ message: z.string() });

export interface SharedState {
  readonly info: SharedInfo | undefined;
  /** Why the description is missing. */
  readonly problem: string | undefined;
}

/** Interval for checking whether a running recording is complete. */
const againMs = 2000;

/**
 * Describes a recording by the address of its page. Reads it again until the recording is complete.
 * @param address - `undefined` = nothing is read.
 */
export function useSharedInfo(address: string | undefined): SharedState {
  const [state, setState] = useState<SharedState>({ info: undefined, problem: undefined });
  useEffect(() => {
    if (address === undefined) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: number | undefined;
    async function read(): Promise<void> {
      try {
        const answer = await fetch(`${address}/info`, { cache: "no-store", referrerPolicy: "no-referrer", signal });
        const said: unknown = await answer.json();
        if (!answer.ok) {
          const refusal = Refusal.safeParse(said);
          setState({
            info: undefined,
            problem: refusal.success ? refusal.data.message : "This recording no longer exists.",
          });
          return;
        }
        const info = SharedInfo.parse(said);
        setState({ info, problem: undefined });
        if (info.ready || info.failure_reason !== undefined) return;
      } catch {
        if (signal.aborted) return;
        setState((before) => ({ ...before, problem: "The service cannot be reached. Trying again." }));
      }
      timer = window.setTimeout(() => void read(), againMs);
    }
    void read();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [address]);
  return state;
}
