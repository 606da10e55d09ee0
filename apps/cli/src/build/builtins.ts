import { isBuiltin } from "node:module";

/**
 * Turns imports of Node's own modules into look-ups. An `import` makes a module's facade, which reads every export: of node:http that
 * loads the whole of `fetch` (30 ms of CPU), of the others some milliseconds more. A look-up reads what is used.
 *
 * `globalThis`, because one of these modules is called process.
 *
 * @param code - an ES module as esbuild prints it.
 */
export function builtinsWithoutFacade(code: string): string {
  return code.replace(
    /(?<=^|[;\n}])import\s*(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)\s*|\{([^}]*)\}\s*)?from\s*"((?:node:)?[\w/]+)";?/g,
    (whole, ...groups: (string | undefined)[]) => {
      const [main, all, named, name = ""] = groups;
      const id = name.startsWith("node:") ? name : `node:${name}`;
      if (!isBuiltin(id)) return whole;
      // Commander names it, and no command starts another with it; it brings Node's network code along.
      if (id === "node:child_process" && named === undefined && main !== undefined)
        return `const ${main}=new Proxy({},{get:(_,name)=>globalThis.process.getBuiltinModule(${JSON.stringify(id)})[name]});`;
      const from = `globalThis.process.getBuiltinModule(${JSON.stringify(id)})`;
      const parts = [main, all].filter((variable) => variable !== undefined).map((variable) => `${variable}=${from}`);
      if (named !== undefined) parts.push(`{${named.replace(/\s+as\s+/g, ":")}}=${from}`);
      return parts.length === 0 ? whole : `const ${parts.join(",")};`;
    },
  );
}
