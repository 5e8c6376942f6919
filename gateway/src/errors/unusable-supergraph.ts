/** The supergraph is the cause of a failed load: another attempt would end in the same way. All other loads are repeated. */
export class UnusableSupergraph extends Error {}
