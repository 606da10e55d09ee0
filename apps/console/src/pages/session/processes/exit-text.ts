const firstSignal = 128;
const signals: Readonly<Record<number, string>> = { 1: "HUP", 2: "INT", 6: "ABRT", 9: "KILL", 11: "SEGV", 15: "TERM" };

/** `Exited with 1`, `Ended by TERM`. */
export function exitText(code: number): string {
  const signal = signals[code - firstSignal];
  return signal === undefined ? `Exited with ${code}` : `Ended by ${signal}`;
}
