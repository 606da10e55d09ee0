import { isBuiltin } from "node:module";

/**
 * Replaces imports of Node's built-in modules by look-ups of the used exports: an import of node:http loads all of
 * `fetch` (30 ms of CPU).
 * @param code - an ES module printed by esbuild.
 */
export function builtinsWithoutFacade(code: string): string {
  return code.replace(
    // oxlint-disable-next-line shoal/no-slow-patterns -- runs in the build, on its own output
    /(?<=^|[;\n}])import\s*(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)\s*|\{([^}]*)\}\s*)?from\s*"((?:node:)?[\w/]+)";?/g,
    (whole, ...groups: (string | undefined)[]) => {
      const [main, all, named, name = ""] = groups;
      const id = name.startsWith("node:") ? name : `node:${name}`;
      if (!isBuiltin(id)) return whole;
      // Commander imports it for an unused feature, and it loads Node's network code.
      if (id === "node:child_process" && named === undefined && main !== undefined)
        return `const ${main}=new Proxy({},{get:(_,name)=>globalThis.process.getBuiltinModule(${JSON.stringify(id)})[name]});`;
      const from = `globalThis.process.getBuiltinModule(${JSON.stringify(id)})`;
      const parts = [main, all].filter((variable) => variable !== undefined).map((variable) => `${variable}=${from}`);
      if (named !== undefined) parts.push(`{${named.replace(/\sas\s/g, ":")}}=${from}`);
      return parts.length === 0 ? whole : `const ${parts.join(",")};`;
    },
  );
}
