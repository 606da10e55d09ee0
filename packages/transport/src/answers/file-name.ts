/** Bytes of UTF-8; file systems allow 255, and programs add endings. */
const maxNameBytes = 180;
/** Windows reserves them with any ending. */
const devices = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?=\.|$)/i;

/**
 * Returns a name that a client may use on its disk instead of an offered name: without folders, control
 * characters, invisible characters and marks of text direction; never hidden or reserved on any system. `undefined` if
 * nothing remains.
 */
export function safeFileName(offered: string): string | undefined {
  const last = offered.split(/[/\\]/).at(-1) ?? "";
  const visible = last
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu, "")
    .replace(/[<>:"|?*]/g, "_")
    .replace(/^[\s.~-]+|(?<![\s.])[\s.]+$/gu, "");
  const short = shortened(visible);
  if (short === "") return undefined;
  return devices.test(short) ? `_${short}` : short;
}

/** Keeps the ending. */
function shortened(name: string): string {
  const bytes = new TextEncoder();
  const { length } = bytes.encode(name);
  if (length <= maxNameBytes) return name;
  const ending = /\.[^.\s]{1,16}$/u.exec(name)?.[0] ?? "";
  let kept = Array.from(name.slice(0, name.length - ending.length));
  while (bytes.encode(kept.join("") + ending).length > maxNameBytes) kept = kept.slice(0, -1);
  return kept.join("").replace(/(?<![\s.])[\s.]+$/u, "") + ending;
}
