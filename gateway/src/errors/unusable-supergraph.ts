/**
 * The supergraph itself is the cause of a failed load, so that another attempt would end in the same way: it is not valid, uses a feature that the
 * gateway does not support, or exceeds the CPU time or memory of a planner worker. After any other error the load is repeated.
 */
export class UnusableSupergraph extends Error {}
