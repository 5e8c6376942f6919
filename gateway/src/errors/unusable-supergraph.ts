/**
 * The supergraph itself is the cause of a failed load, so that another attempt would end in the same way. After any other error the load is repeated.
 */
export class UnusableSupergraph extends Error {}
