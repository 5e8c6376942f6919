/** Thrown by the stages run and shape. execute.ts makes it the error RESULT_TOO_LARGE of the whole result. */
export class ResultTooLarge extends Error {
  override readonly name = "ResultTooLarge";
}
