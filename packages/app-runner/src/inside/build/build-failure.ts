/** The reason is for the app's author. */
export class BuildFailure extends Error {
  override readonly name = "BuildFailure";
}
