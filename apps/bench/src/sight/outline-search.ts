/** An element with a reference, as a snapshot of any tool lists it. */
interface Listed {
  readonly role: string;
  /** Its name and the text of its line. */
  readonly text: string;
  readonly name: string;
  readonly ref: string;
  readonly depth: number;
}

export interface Wanted {
  readonly role: string;
  readonly name: string;
}

export interface Found {
  readonly ref: string;
  /** Whether the line has the role and the name. Otherwise the element was found by its text only. */
  readonly isSeen: boolean;
}

/** Roles for the same control: a tool may name a control by its class. */
const alike: readonly (readonly string[])[] = [
  ["generic", "clickable", "paragraph", "listitem", "gridcell", "cell", "option", "treeitem", "tab"],
  ["gridcell", "cell", "button"],
  ["textbox", "combobox", "searchbox"],
  ["switch", "checkbox", "button"],
  ["menuitem", "menuitemcheckbox", "menuitemradio", "option"],
  ["image", "img", "generic", "clickable"],
  ["row", "option"],
  ["treeitem", "row"],
];
const elements = /([a-z][a-zA-Z]*)(?: "((?:[^"\\]|\\.)*)")?((?: \[[^\]]*\])+)/g;

/** Finds the element of a step as a reader of the text would: by role and name, or else by the text. */
export function findListed(snapshot: string, wanted: Wanted): Found | undefined {
  const listed = listedIn(snapshot);
  const name = wanted.name.toLowerCase();
  const isRole = ({ role }: Listed): boolean =>
    role === wanted.role || alike.some((roles) => roles.includes(role) && roles.includes(wanted.role));
  const named = listed.filter((one) => isRole(one) && one.text.toLowerCase().includes(name));
  const place = /^#(\d+)$/.exec(name)?.[1];
  if (place !== undefined) {
    const ref = listed.filter(({ role }) => role === wanted.role)[Number(place) - 1]?.ref;
    return ref === undefined ? undefined : { ref, isSeen: true };
  }
  const exact = named.filter((one) => one.text.toLowerCase() === name || one.name.toLowerCase() === name);
  const best = bestOf(exact, wanted) ?? bestOf(named, wanted);
  if (best !== undefined) return { ref: best.ref, isSeen: true };
  if (name === "") return undefined;
  const inner = listed
    .filter((one) => one.text.toLowerCase().includes(name))
    .toSorted((one, other) => one.text.length - other.text.length || other.depth - one.depth)[0];
  const ref = inner?.ref ?? around(snapshot, name);
  return ref === undefined ? undefined : { ref, isSeen: false };
}

function bestOf(listed: readonly Listed[], { role }: Wanted): Listed | undefined {
  const [shortest] = listed.toSorted((one, other) => one.text.length - other.text.length);
  return listed.find((one) => one.role === role && one.text.length === shortest?.text.length) ?? shortest;
}

function listedIn(snapshot: string): Listed[] {
  const lines = snapshot.split("\n").map((line) => line.replace(/^([-+~ ]*)\* \[/, "$1listitem ["));
  return lines.flatMap((line, at) => {
    const matches = [...line.matchAll(elements)];
    return matches.flatMap((match, place) => {
      const [all, role = "", name = "", marks = ""] = match;
      const ref = /\[(?:[^\]]*, )?(?:ref=)?((?:f\d+)?e\d+)[\],]/.exec(marks)?.[1];
      if (ref === undefined) return [];
      const next = matches[place + 1]?.index;
      const rest = line.slice(match.index + all.length, next).replace(/^[: ]+/, "");
      const text = [name, rest, next === undefined ? below(lines, at) : ""].filter(Boolean).join(" ");
      return [{ role, name, text, ref, depth: indent(line) }];
    });
  });
}

/** The text of the lines that are more indented than a line. */
function below(lines: readonly string[], at: number): string {
  const depth = indent(lines[at] ?? "");
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((line) => indent(line) <= depth);
  const inner = rest.slice(0, Math.min(end === -1 ? rest.length : end, 4));
  return inner.map((line) => line.replace(/^[\s+~-]*(?:text: )?/, "")).join(" ");
}

function indent(line: string): number {
  return line.search(/[^\s+~-]/);
}

/** The reference of the closest line above that is less indented than the text's line. */
function around(snapshot: string, name: string): string | undefined {
  const lines = snapshot.split("\n");
  for (let at = lines.findIndex((line) => line.toLowerCase().includes(name)), depth = Infinity; at >= 0; at--) {
    const line = lines[at] ?? "";
    if (indent(line) >= depth) continue;
    depth = indent(line);
    const last = listedIn(line).at(-1);
    if (last !== undefined) return last.ref;
  }
  return undefined;
}
