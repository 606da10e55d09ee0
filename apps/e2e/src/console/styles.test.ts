import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const source = join(import.meta.dirname, "../../../console/src");
const styles = dirname(createRequire(join(source, "main.tsx")).resolve("@mantine/core/styles/Button.css"));
const read = (path: string) => readFileSync(join(source, path), "utf8");
const importedIn = (text: string) =>
  [...text.matchAll(/"@mantine\/core\/styles\/(\w+)\.css"/g)].map(([, name = ""]) => name);

/** Components that a component draws. */
const parts: Readonly<Record<string, readonly string[]>> = {
  Checkbox: ["InlineInput"],
  Drawer: ["ModalBase", "Overlay"],
  NativeSelect: ["Input"],
  NumberInput: ["Input"],
  Switch: ["InlineInput"],
  Textarea: ["Input"],
  TextInput: ["Input"],
};

it("loads the styles of each component with the page that shows it", () => {
  const everywhere = importedIn(read("app/mantine.css"));
  const missing = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".tsx"))
    .flatMap((path) => {
      const text = read(path);
      const [, names = ""] = /import \{([^}]*)\} from "@mantine\/core";/.exec(text) ?? [];
      const loaded = new Set([...everywhere, ...importedIn(text)]);
      return names
        .split(",")
        .map((name) => name.trim())
        .flatMap((name) => [name, ...(parts[name] ?? [])])
        .filter((name) => existsSync(join(styles, `${name}.css`)) && !loaded.has(name))
        .map((name) => `${path}: ${name}.css`);
    });
  expect(missing).toEqual([]);
});
