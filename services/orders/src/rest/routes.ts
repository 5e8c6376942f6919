import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { freshSeconds, staleIfErrorSeconds } from "../groups.ts";

/** A browser's cache would show the stock from before the user's order. Other shared caches than the REST proxy's follow no writes. */
const freshness = {
  browserSeconds: 0,
  sharedSeconds: freshSeconds,
  staleWhileRevalidateSeconds: 10,
  staleIfErrorSeconds,
} as const;

export const routes = [
  {
    id: "placeOrder",
    method: "POST",
    path: "/orders",
    versions: [1, 2],
    cache: "none",
    idempotencyKey: { optional: [1], required: [2] },
    summary: "Place an order",
  },
  {
    id: "listOrders",
    method: "GET",
    path: "/orders",
    versions: [1, 2],
    query: ["limit", "cursor", "status", "sort"],
    cache: "private",
    summary: "The caller's own orders, newest first",
  },
  {
    id: "getOrder",
    method: "GET",
    path: "/orders/:id",
    versions: [1, 2],
    cache: "private",
    // Buyers read an order to learn whether it was placed. Writes are critical by default, other reads normal.
    priority: "critical",
    summary: "One order",
  },
  {
    id: "cancelOrder",
    method: "POST",
    path: "/orders/:id/cancellation",
    versions: [1, 2],
    cache: "none",
    idempotencyKey: { optional: [1, 2], required: [] },
    summary: "Cancel an order",
  },
  {
    id: "listUserOrders",
    method: "GET",
    path: "/users/:id/orders",
    versions: [1, 2],
    query: ["limit", "cursor", "status", "sort"],
    cache: "private",
    summary: "A user's orders, newest first; none for an unknown user",
  },
  {
    id: "listProducts",
    method: "GET",
    path: "/products",
    versions: [1, 2],
    query: ["limit", "cursor"],
    cache: "public",
    freshness,
    summary: "The catalogue, by sku",
  },
  {
    id: "getProduct",
    method: "GET",
    path: "/products/:sku",
    versions: [1, 2],
    cache: "public",
    freshness,
    summary: "One product",
  },
] as const satisfies readonly RouteDeclaration[];
