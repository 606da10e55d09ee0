import { useEffect, useState } from "react";
import { useSignedIn } from "../../../api/shoal.ts";
import { type OutputLine, OutputLines } from "./output-lines.ts";

export interface FollowedOutput {
  readonly lines: readonly OutputLine[];
  /** Older lines were dropped, by the page or by the service. */
  readonly isCut: boolean;
  /** `undefined` while it runs. */
  readonly exitCode: number | undefined;
  readonly isReading: boolean;
  /** Kept output is still arriving. */
  readonly isLoading: boolean;
  readonly error: unknown;
}

/** Output is drawn together, because a program may write thousands of lines a second. */
const drawMs = 100;
const nothing: FollowedOutput = {
  lines: [],
  isCut: false,
  exitCode: undefined,
  isReading: true,
  isLoading: true,
  error: undefined,
};

/** Kept and new output of a process, until it exits. */
export function useOutput(id: string, processId: string): FollowedOutput {
  const { shoal } = useSignedIn();
  const [followed, setFollowed] = useState(nothing);
  useEffect(() => {
    const left = new AbortController();
    const { signal } = left;
    const output = new OutputLines();
    let exitCode: number | undefined;
    let timer: number | undefined;
    const draw = (end: Partial<FollowedOutput> = {}) => {
      clearTimeout(timer);
      timer = undefined;
      setFollowed((before) => ({ ...before, ...end, exitCode, isCut: output.isCut, lines: output.lines() }));
    };
    async function read(): Promise<void> {
      const onGap = () => {
        output.isCut = true;
      };
      const onCaughtUp = () => {
        draw({ isLoading: false });
      };
      for await (const piece of shoal.browsers.process.output(id, processId, { signal, onGap, onCaughtUp })) {
        if (piece.kind === "exit") ({ exitCode } = piece);
        else output.push(piece.kind, piece.bytes);
        timer ??= window.setTimeout(draw, drawMs);
      }
    }
    read().then(
      () => {
        if (!signal.aborted) draw({ isReading: false, isLoading: false });
      },
      (error: unknown) => {
        if (!signal.aborted) draw({ isReading: false, isLoading: false, error });
      },
    );
    return () => {
      left.abort();
      clearTimeout(timer);
      setFollowed(nothing);
    };
  }, [shoal, id, processId]);
  return followed;
}
