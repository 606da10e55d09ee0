const marker = Symbol.for("shoal.error.StartError");

/** `message` is one line; `hint` says how to fix it. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly [marker] = true;
  readonly hint: string;
  readonly exitCode: number;

  constructor(message: string, options: ErrorOptions & { hint: string; exitCode?: number }) {
    super(message, options);
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
  }

  /** Unlike `instanceof`, works across two installed copies of this package. */
  static isInstance(error: unknown): error is StartError {
    return typeof error === "object" && error !== null && marker in error;
  }
}
