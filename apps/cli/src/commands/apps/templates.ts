export const templates = ["typescript", "javascript", "python"] as const;
export type Template = (typeof templates)[number];

export interface NewApp {
  /** By path. */
  readonly files: Readonly<Record<string, string>>;
  readonly entry: string;
  /** Installs the dependencies. */
  readonly install: string;
}

const sdk = "@shoal/client";
const aboutRegistry = `# Your Shoal service has the SDK. Delete this file to get it from npm's registry.
`;

/** @param sdkRegistry - has the SDK, if npm's registry does not */
export function newApp(template: Template, name: string, sdkRegistry?: string): NewApp {
  const registry: Readonly<Record<string, string>> =
    sdkRegistry === undefined ? {} : { ".npmrc": `${aboutRegistry}@shoal:registry=${sdkRegistry}\n` };
  switch (template) {
    case "typescript":
      return nodeApp("index.ts", name, {
        ...registry,
        "tsconfig.json": json({
          compilerOptions: {
            target: "es2024",
            lib: ["es2024", "esnext.disposable", "dom"],
            module: "nodenext",
            strict: true,
            noEmit: true,
            skipLibCheck: true,
            verbatimModuleSyntax: true,
          },
        }),
      });
    case "javascript":
      return nodeApp("index.js", name, registry);
    case "python":
      return {
        entry: "main.py",
        install: "python3 -m venv .venv && .venv/bin/pip install kernel",
        files: {
          "main.py": pythonSource(name),
          "pyproject.toml": `[project]\nname = "${name}"\nversion = "0.1.0"\nrequires-python = ">=3.11"\ndependencies = ["kernel"]\n`,
          ".gitignore": ".venv/\n__pycache__/\n.env\n",
        },
      };
  }
}

function nodeApp(entry: string, name: string, more: Readonly<Record<string, string>>): NewApp {
  const dependencies = { [sdk]: "*", zod: "^4.6.0" };
  return {
    entry,
    install: "npm install",
    files: {
      [entry]: nodeSource(name),
      "package.json": json({ name, private: true, type: "module", dependencies }),
      ".gitignore": "node_modules/\n.env\n",
      ...more,
    },
  };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function nodeSource(name: string): string {
  return `import { Shoal } from "${sdk}";
import { app } from "${sdk}/app";
import * as z from "zod";

const actions = app("${name}");

actions.action("greet", { payload: z.object({ name: z.string() }) }, (_context, { name }) => {
  return { text: \`Hello, \${name}\` };
});

actions.action("title", { payload: z.object({ url: z.url() }) }, async ({ invocation_id }, { url }) => {
  // The browser ends with the action, also if the action fails.
  const shoal = new Shoal();
  await using browser = await shoal.browsers.create({ invocation_id });
  const { result } = await shoal.browsers.playwright.execute(browser.session_id, {
    code: \`await page.goto(\${JSON.stringify(url)}); return page.title();\`,
  });
  return { title: result };
});
`;
}

function pythonSource(name: string): string {
  return `import kernel

app = kernel.App("${name}")


@app.action("greet")
async def greet(context: kernel.KernelContext, payload):
    return {"text": f"Hello, {payload['name']}"}


@app.action("title")
async def title(context: kernel.KernelContext, payload):
    client = kernel.AsyncKernel()
    browser = await client.browsers.create(invocation_id=context.invocation_id)
    try:
        answer = await client.browsers.playwright.execute(
            browser.session_id,
            code=f"await page.goto({payload['url']!r}); return page.title();",
        )
        return {"title": answer.result}
    finally:
        await client.browsers.delete_by_id(browser.session_id)
`;
}
