import type { Replay } from "@shoal/schemas";

function timestamp(seconds: number): string {
  const ms = Math.max(0, Math.round(seconds * 1000));
  const two = (value: number, places = 2): string => String(Math.floor(value)).padStart(places, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}.${two(ms % 1000, 3)}`;
}

/** The chapters are WebVTT. */
export function chaptersOf({
  marks = [],
  started_at,
  finished_at,
}: Pick<Replay, "marks" | "started_at" | "finished_at">): string {
  const lengthSeconds =
    started_at == null || finished_at == null ? undefined : (Date.parse(finished_at) - Date.parse(started_at)) / 1000;
  const cues = marks.map(({ title, offset_seconds: start }, place) => {
    // A cue must end after its start, even at the end of the film.
    const end = Math.max(marks[place + 1]?.offset_seconds ?? lengthSeconds ?? start, start + 0.001);
    const text = title.replaceAll(/\s+/g, " ").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    return `${timestamp(start)} --> ${timestamp(end)}\n${text}\n`;
  });
  return `WEBVTT\n\n${cues.join("\n")}`;
}
