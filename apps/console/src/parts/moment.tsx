import { agoText, durationText, momentText } from "../base/texts.ts";
import { useNow } from "./now.ts";

/** A moment relative to now; its title is the time in the reader's zone. */
export function Ago({ at }: { readonly at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={momentText(at)}>
      {agoText(at, now)}
    </time>
  );
}

export function Moment({ at }: { readonly at: string }) {
  return <time dateTime={at}>{momentText(at)}</time>;
}

/** The time since `from`, counting whole seconds while `to` is absent. */
export function Age({ from, to }: { readonly from: string; readonly to?: string | undefined }) {
  const now = useNow();
  const startMs = new Date(from).getTime();
  const ms = to === undefined ? Math.floor((now - startMs) / 1000) * 1000 : new Date(to).getTime() - startMs;
  return <time title={momentText(from)}>{durationText(ms)}</time>;
}
