/** An entry of the package without types. */
declare module "playwright-core/lib/coreBundle" {
  export const registry: {
    readonly registry: { findExecutable(name: "ffmpeg"): { executablePathOrDie: () => string } };
  };
}
