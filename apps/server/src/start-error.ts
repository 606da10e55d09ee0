const marker = Symbol.for("shoal.error.StartError");

/** The service cannot start. `message` is one line for people, `hint` says what to do about it. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly [marker] = true;
  /** What to do, one line or a few. */
  readonly hint: string;
  /** For the program's exit: 2 where the configuration is wrong, 1 otherwise. */
  readonly exitCode: number;

  constructor(message: string, options: ErrorOptions & { hint: string; exitCode?: number }) {
    super(message, options);
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
  }

  /** Unlike `instanceof`, holds across two installed copies of this package. */
  static isInstance(error: unknown): error is StartError {
    return typeof error === "object" && error !== null && marker in error;
  }
}
