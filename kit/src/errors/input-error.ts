/** A developer or an operator can correct it: commands print its message without a stack. */
export class InputError extends Error {}
