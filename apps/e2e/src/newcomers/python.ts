import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { serveShopperModel } from "../agents/shopper-model.ts";
import { programsOf } from "../testing/guide.ts";
import type { Way } from "./way.ts";

const page = "docs/guide/python.md";

/** A developer in Python with an address and a key: the commands and programs of the page. */
export async function pythonDeveloper(way: Way): Promise<void> {
  const { api_key, base_url } = await way.serve("./shoal serve");
  const python = join(way.home, "venv/bin");
  const env = {
    PATH: `${python}:${way.clone}:${process.env.PATH ?? ""}`,
    SHOAL_API_KEY: api_key,
    SHOAL_BASE_URL: base_url,
    ANONYMIZED_TELEMETRY: "false",
  };
  await way.step("python3 -m venv", () => way.run(`python3 -m venv ${join(way.home, "venv")}`));
  const installs = (await way.run(`grep '^\\$ pip install' ${page}`)).trim().split("\n");
  for (const line of installs) await way.typed(line.slice(2), [page], { env });
  await using model = await serveShopperModel();
  for (const program of programsOf(page).filter(({ language }) => language === "python")) {
    const file = join(way.home, "program.py");
    writeFileSync(file, program.code);
    await way.step(program.title, async () => {
      const output = await way.run(`python ${file}`, {
        cwd: way.home,
        env: { ...env, OPENAI_API_KEY: "none", OPENAI_BASE_URL: model.baseURL },
      });
      if (output !== program.output)
        throw new Error(`It printed:\n${output}\nThe page shows:\n${String(program.output)}`);
    });
  }
}
