import type { CopyNeeds } from "@shoal/placement";

const names: Readonly<Record<string, string>> = {
  architecture: "architecture",
  kernel: "Linux kernel",
  chromium: "browser",
  placement: "placement",
};

/** Returns a sentence about the first difference, or `undefined`. */
export function incompatibleBecause(needed: CopyNeeds, present: CopyNeeds): string | undefined {
  const keys = new Set([...Object.keys(needed), ...Object.keys(present)]);
  const different = [...keys].find((key) => needed[key] !== present[key]);
  if (different === undefined) return undefined;
  if (different === "cpu") return "The processor of this server has other features than the server that made it.";
  if (different === "program") return "This server has another version of Shoal or Node than the server that made it.";
  const [was = "none", is = "none"] = [needed[different], present[different]];
  return `It needs the ${names[different] ?? different} ${was}, and this server has ${is}.`;
}
