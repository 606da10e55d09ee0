import { type Runtime, Session } from "node:inspector/promises";
import { inspect } from "node:util";
import { constants, Script } from "node:vm";
import { importName, withImports } from "./imports.ts";
import { type CellEnd, maxErrorCharacters, maxStackCharacters } from "./messages.ts";

type Importing = (specifier: string, options?: ImportCallOptions) => Promise<unknown>;

/** Runs code in the REPL mode of V8: declarations stay, may be repeated, and `await` works at the top level. */
export class Cells {
  readonly #session = new Session();

  /** @param own - modules of the program, by their names. */
  constructor(own: Readonly<Record<string, unknown>>) {
    this.#session.connect();
    const script = new Script("(specifier, options) => import(specifier, options)", {
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    const load = script.runInThisContext() as Importing;
    Object.defineProperty(globalThis, importName, {
      value: async (specifier: unknown, options?: ImportCallOptions) => {
        const name = String(specifier);
        return Object.hasOwn(own, name) ? own[name] : load(name, options);
      },
    });
    showImports();
  }

  async run(code: string, cell: number): Promise<CellEnd> {
    const objectGroup = "cell";
    const expression = `${withImports(code)}\n//# sourceURL=cell-${String(cell)}.js`;
    // The types of Node lack `replMode`.
    const evaluation: Runtime.EvaluateParameterType & { readonly replMode: true } = {
      ...{ expression, awaitPromise: true, silent: true, objectGroup },
      replMode: true,
    };
    const { exceptionDetails } = await this.#session.post("Runtime.evaluate", evaluation);
    await this.#session.post("Runtime.releaseObjectGroup", { objectGroup });
    if (exceptionDetails === undefined) return { success: true };
    const { exception, text } = exceptionDetails;
    if (exception?.subtype === "error" && exception.description !== undefined) return endOf(exception.description);
    const thrown = exception?.value === undefined ? (exception?.description ?? text) : inspect(exception.value);
    return { success: false, error: `The code threw ${thrown}`.slice(0, maxErrorCharacters) };
  }
}

/** @param description - the stack of an error. */
export function endOf(description: string): CellEnd & { readonly success: false } {
  const at = description.search(/\n {4}at /);
  const error = (at === -1 ? description : description.slice(0, at)).slice(0, maxErrorCharacters);
  // Frames of this program follow.
  const [frames = ""] = (at === -1 ? "" : description.slice(at + 1)).split(/^ +at Session\.post \(node:inspector/m);
  const stack = `${error}\n${frames}`.trimEnd().slice(0, maxStackCharacters);
  return { success: false, error, ...(frames !== "" && { stack }) };
}

/** Functions are sent to pages as text. */
function showImports(): void {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with a receiver
  const original = Function.prototype.toString;
  Object.defineProperty(Function.prototype, "toString", {
    configurable: true,
    writable: true,
    value: function toString(this: unknown) {
      return original.call(this).replaceAll(`${importName}(`, "import(");
    },
  });
}
