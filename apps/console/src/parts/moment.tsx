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

/** The time since `from`, counting while `to` is absent. */
export function Age({ from, to }: { readonly from: string; readonly to?: string | undefined }) {
  const now = useNow();
  const end = to === undefined ? now : new Date(to).getTime();
  return <time title={momentText(from)}>{durationText(end - new Date(from).getTime())}</time>;
}
