// Made from schema.graphql and codegen.json by `npm run generate`. Do not edit.
/* oxlint-disable */
import type { RequireResolvers } from '@tributary/kit/graphql/resolver-types';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { Order as OrderModel, OrderLine as OrderLineModel, Product as ProductModel, Reference as ReferenceModel } from '../model.ts';
import type { Money as MoneyModel } from '../money.ts';
import type { Context } from './context.ts';
export type Maybe<T> = T | null | undefined;
export type InputMaybe<T> = T | null | undefined;
export type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type MakeOptional<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]?: Maybe<T[SubKey]> };
export type MakeMaybe<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]: Maybe<T[SubKey]> };
export type MakeEmpty<T extends { [key: string]: unknown }, K extends keyof T> = { [_ in K]?: never };
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** An instant: RFC 3339 in UTC, with milliseconds, such as `2026-01-31T09:30:00.000Z`. */
  DateTime: { input: Date; output: Date; }
  _FieldSet: { input: string; output: string; }
};

export type Query = {
  readonly __typename?: 'Query';
  /** The order with this id; null if it does not exist or the caller may not read it. Requires the scope `orders:read` for the caller's own orders, or `orders:read:all`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`. */
  readonly order?: Maybe<Order>;
  /** The caller's own orders, newest first. Requires the scope `orders:read` or `orders:read:all`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `BAD_USER_INPUT`, `INVALID_CURSOR`. */
  readonly orders?: Maybe<OrderConnection>;
  /** The product with this sku; null if no product has it. */
  readonly product?: Maybe<Product>;
  /** The catalogue, by sku. Errors: `BAD_USER_INPUT`, `INVALID_CURSOR`. */
  readonly products?: Maybe<ProductConnection>;
};

export type QueryOrderArgs = {
  id: Scalars['ID']['input'];
};

export type QueryOrdersArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<OrderStatus>;
};

export type QueryProductArgs = {
  sku: Scalars['ID']['input'];
};

export type QueryProductsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['String']['input']>;
};

export type Mutation = {
  readonly __typename?: 'Mutation';
  /** Places an order for the caller: all lines or none. Requires the scope `orders:write`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `BAD_USER_INPUT`, `OUT_OF_STOCK`, `IDEMPOTENCY_KEY_IN_FLIGHT`, `IDEMPOTENCY_KEY_REUSED`. */
  readonly placeOrder?: Maybe<PlaceOrderPayload>;
  /** Cancels an order that is `PLACED` or `PAID`, and returns its products to stock. Requires the scope `orders:write` for the caller's own orders, or `orders:write:all`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `BAD_USER_INPUT`, `IDEMPOTENCY_KEY_IN_FLIGHT`, `IDEMPOTENCY_KEY_REUSED`, `NOT_FOUND`, `INVALID_STATE`. */
  readonly cancelOrder?: Maybe<CancelOrderPayload>;
  /** Advances an order by one step: `PLACED`, `PAID`, `SHIPPED`, `DELIVERED`. Requires the scope `orders:write:all`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `NOT_FOUND`, `INVALID_STATE`. */
  readonly advanceOrder?: Maybe<AdvanceOrderPayload>;
};

export type MutationPlaceOrderArgs = {
  input: PlaceOrderInput;
};

export type MutationCancelOrderArgs = {
  input: CancelOrderInput;
};

export type MutationAdvanceOrderArgs = {
  input: AdvanceOrderInput;
};

export type User = {
  readonly __typename?: 'User';
  readonly id: Scalars['ID']['output'];
  /** The user's orders, newest first. Requires the scope `orders:read` for the caller's own orders, or `orders:read:all`. Errors: `UNAUTHENTICATED`, `FORBIDDEN`, `BAD_USER_INPUT`. */
  readonly orders?: Maybe<ReadonlyArray<Maybe<Order>>>;
};

export type UserOrdersArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
  after?: InputMaybe<Scalars['ID']['input']>;
};

export type Post = {
  readonly __typename?: 'Post';
  readonly id: Scalars['ID']['output'];
};

/** An order of a customer. */
export type Order = {
  readonly __typename?: 'Order';
  readonly id: Scalars['ID']['output'];
  /** The user who placed the order. */
  readonly customer?: Maybe<User>;
  /** 1 to 50 lines, sorted by sku, each product once. */
  readonly lines: ReadonlyArray<OrderLine>;
  readonly total: Money;
  readonly status: OrderStatus;
  readonly placedAt: Scalars['DateTime']['output'];
};

export type OrderStatus =
  | 'PLACED'
  | 'PAID'
  | 'SHIPPED'
  | 'DELIVERED'
  /** Cancelled while it was `PLACED` or `PAID`. Its products were returned to stock. */
  | 'CANCELLED';

export type OrderLine = {
  readonly __typename?: 'OrderLine';
  /** The product in its current state. */
  readonly product?: Maybe<Product>;
  /** 1 to 99. */
  readonly quantity: Scalars['Int']['output'];
  /** The price of one piece at the time of the order. */
  readonly unitPrice: Money;
};

/** A product: the print edition of a post. */
export type Product = {
  readonly __typename?: 'Product';
  readonly sku: Scalars['ID']['output'];
  readonly title: Scalars['String']['output'];
  readonly price: Money;
  /** The number of pieces in stock. */
  readonly stock: Scalars['Int']['output'];
  /** The post that this product is a print edition of. */
  readonly post?: Maybe<Post>;
};

/** An amount of money in whole minor units of its currency. */
export type Money = {
  readonly __typename?: 'Money';
  /** In the currency's minor unit (ISO 4217): 1299 is 12.99 EUR, and 1,299 JPY. */
  readonly amountMinor: Scalars['Int']['output'];
  /** An ISO 4217 currency code. */
  readonly currency: Scalars['String']['output'];
  /** The amount formatted for display, in English: `€12.99`. */
  readonly display: Scalars['String']['output'];
};

export type OrderConnection = {
  readonly __typename?: 'OrderConnection';
  readonly edges: ReadonlyArray<OrderEdge>;
  readonly nodes: ReadonlyArray<Order>;
  readonly pageInfo: PageInfo;
};

export type OrderEdge = {
  readonly __typename?: 'OrderEdge';
  readonly cursor: Scalars['String']['output'];
  readonly node: Order;
};

export type ProductConnection = {
  readonly __typename?: 'ProductConnection';
  readonly edges: ReadonlyArray<ProductEdge>;
  readonly nodes: ReadonlyArray<Product>;
  readonly pageInfo: PageInfo;
};

export type ProductEdge = {
  readonly __typename?: 'ProductEdge';
  readonly cursor: Scalars['String']['output'];
  readonly node: Product;
};

/** The position of a page in its list (Relay). */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  readonly hasNextPage: Scalars['Boolean']['output'];
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  readonly startCursor?: Maybe<Scalars['String']['output']>;
  readonly endCursor?: Maybe<Scalars['String']['output']>;
};

export type PlaceOrderInput = {
  /** 1 to 50 lines, each product once, all in one currency. */
  readonly lines: ReadonlyArray<PlaceOrderLineInput>;
  /** 1 to 255 visible ASCII characters. A second request within 24 hours with the same key and lines returns the order that the first one placed. */
  readonly idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};

export type PlaceOrderLineInput = {
  readonly sku: Scalars['ID']['input'];
  /** 1 to 99. */
  readonly quantity: Scalars['Int']['input'];
};

export type CancelOrderInput = {
  readonly id: Scalars['ID']['input'];
  /** 1 to 255 visible ASCII characters. A second request within 24 hours with the same key and id returns the order as the first one cancelled it. */
  readonly idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};

export type AdvanceOrderInput = {
  readonly id: Scalars['ID']['input'];
  readonly to: OrderStatus;
};

export type PlaceOrderPayload = {
  readonly __typename?: 'PlaceOrderPayload';
  readonly order?: Maybe<Order>;
};

export type CancelOrderPayload = {
  readonly __typename?: 'CancelOrderPayload';
  readonly order?: Maybe<Order>;
};

export type AdvanceOrderPayload = {
  readonly __typename?: 'AdvanceOrderPayload';
  readonly order?: Maybe<Order>;
};

export type ResolverTypeWrapper<T> = Promise<T> | T;

export type ReferenceResolver<TResult, TReference, TContext> = (
      reference: TReference,
      context: TContext,
      info: GraphQLResolveInfo
    ) => Promise<TResult> | TResult;

      type ScalarCheck<T, S> = S extends true ? T : NullableCheck<T, S>;
      type NullableCheck<T, S> = Maybe<T> extends T ? Maybe<ListCheck<NonNullable<T>, S>> : ListCheck<T, S>;
      type ListCheck<T, S> = T extends (infer U)[] ? NullableCheck<U, S>[] : GraphQLRecursivePick<T, S>;
      export type GraphQLRecursivePick<T, S> = { [K in keyof T & keyof S]: ScalarCheck<T[K], S[K]> };

export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

/** Mapping of federation types */
export type FederationTypes = {
  User: User;
  Order: Order;
  Product: Product;
};

/** Mapping of federation reference types */
export type FederationReferenceTypes = {
  User:
    ( { __typename: 'User' }
    & GraphQLRecursivePick<FederationTypes['User'], {"id":true}> );
  Order:
    ( { __typename: 'Order' }
    & GraphQLRecursivePick<FederationTypes['Order'], {"id":true}> );
  Product:
    ( { __typename: 'Product' }
    & GraphQLRecursivePick<FederationTypes['Product'], {"sku":true}> );
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  User: ResolverTypeWrapper<ReferenceModel>;
  Post: ResolverTypeWrapper<ReferenceModel>;
  Order: ResolverTypeWrapper<OrderModel>;
  OrderStatus: OrderStatus;
  OrderLine: ResolverTypeWrapper<OrderLineModel>;
  Product: ResolverTypeWrapper<ProductModel>;
  Money: ResolverTypeWrapper<MoneyModel>;
  OrderConnection: ResolverTypeWrapper<Omit<OrderConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversTypes['OrderEdge']>, nodes: ReadonlyArray<ResolversTypes['Order']> }>;
  OrderEdge: ResolverTypeWrapper<Omit<OrderEdge, 'node'> & { node: ResolversTypes['Order'] }>;
  ProductConnection: ResolverTypeWrapper<Omit<ProductConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversTypes['ProductEdge']>, nodes: ReadonlyArray<ResolversTypes['Product']> }>;
  ProductEdge: ResolverTypeWrapper<Omit<ProductEdge, 'node'> & { node: ResolversTypes['Product'] }>;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  PlaceOrderInput: PlaceOrderInput;
  PlaceOrderLineInput: PlaceOrderLineInput;
  CancelOrderInput: CancelOrderInput;
  AdvanceOrderInput: AdvanceOrderInput;
  PlaceOrderPayload: ResolverTypeWrapper<Omit<PlaceOrderPayload, 'order'> & { order?: Maybe<ResolversTypes['Order']> }>;
  CancelOrderPayload: ResolverTypeWrapper<Omit<CancelOrderPayload, 'order'> & { order?: Maybe<ResolversTypes['Order']> }>;
  AdvanceOrderPayload: ResolverTypeWrapper<Omit<AdvanceOrderPayload, 'order'> & { order?: Maybe<ResolversTypes['Order']> }>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  DateTime: Scalars['DateTime']['output'];
  Query: Record<PropertyKey, never>;
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  String: Scalars['String']['output'];
  Mutation: Record<PropertyKey, never>;
  User: ReferenceModel;
  Post: ReferenceModel;
  Order: OrderModel;
  OrderLine: OrderLineModel;
  Product: ProductModel;
  Money: MoneyModel;
  OrderConnection: Omit<OrderConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversParentTypes['OrderEdge']>, nodes: ReadonlyArray<ResolversParentTypes['Order']> };
  OrderEdge: Omit<OrderEdge, 'node'> & { node: ResolversParentTypes['Order'] };
  ProductConnection: Omit<ProductConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversParentTypes['ProductEdge']>, nodes: ReadonlyArray<ResolversParentTypes['Product']> };
  ProductEdge: Omit<ProductEdge, 'node'> & { node: ResolversParentTypes['Product'] };
  PageInfo: PageInfo;
  Boolean: Scalars['Boolean']['output'];
  PlaceOrderInput: PlaceOrderInput;
  PlaceOrderLineInput: PlaceOrderLineInput;
  CancelOrderInput: CancelOrderInput;
  AdvanceOrderInput: AdvanceOrderInput;
  PlaceOrderPayload: Omit<PlaceOrderPayload, 'order'> & { order?: Maybe<ResolversParentTypes['Order']> };
  CancelOrderPayload: Omit<CancelOrderPayload, 'order'> & { order?: Maybe<ResolversParentTypes['Order']> };
  AdvanceOrderPayload: Omit<AdvanceOrderPayload, 'order'> & { order?: Maybe<ResolversParentTypes['Order']> };
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  order?: Resolver<Maybe<ResolversTypes['Order']>, ParentType, ContextType, RequireFields<QueryOrderArgs, 'id'>>;
  orders?: Resolver<Maybe<ResolversTypes['OrderConnection']>, ParentType, ContextType, RequireFields<QueryOrdersArgs, 'first'>>;
  product?: Resolver<Maybe<ResolversTypes['Product']>, ParentType, ContextType, RequireFields<QueryProductArgs, 'sku'>>;
  products?: Resolver<Maybe<ResolversTypes['ProductConnection']>, ParentType, ContextType, RequireFields<QueryProductsArgs, 'first'>>;
};

export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  placeOrder?: Resolver<Maybe<ResolversTypes['PlaceOrderPayload']>, ParentType, ContextType, RequireFields<MutationPlaceOrderArgs, 'input'>>;
  cancelOrder?: Resolver<Maybe<ResolversTypes['CancelOrderPayload']>, ParentType, ContextType, RequireFields<MutationCancelOrderArgs, 'input'>>;
  advanceOrder?: Resolver<Maybe<ResolversTypes['AdvanceOrderPayload']>, ParentType, ContextType, RequireFields<MutationAdvanceOrderArgs, 'input'>>;
};

export type UserResolvers<ContextType = Context, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User'], FederationReferenceType extends FederationReferenceTypes['User'] = FederationReferenceTypes['User']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['User']> | FederationReferenceType, FederationReferenceType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  orders?: Resolver<Maybe<ReadonlyArray<Maybe<ResolversTypes['Order']>>>, ParentType, ContextType, RequireFields<UserOrdersArgs, 'first'>>;
};

export type PostResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Post'] = ResolversParentTypes['Post']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type OrderResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Order'] = ResolversParentTypes['Order'], FederationReferenceType extends FederationReferenceTypes['Order'] = FederationReferenceTypes['Order']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Order']> | FederationReferenceType, FederationReferenceType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  customer?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  lines?: Resolver<ReadonlyArray<ResolversTypes['OrderLine']>, ParentType, ContextType>;
  total?: Resolver<ResolversTypes['Money'], ParentType, ContextType>;
  status?: Resolver<ResolversTypes['OrderStatus'], ParentType, ContextType>;
  placedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type OrderLineResolvers<ContextType = Context, ParentType extends ResolversParentTypes['OrderLine'] = ResolversParentTypes['OrderLine']> = {
  product?: Resolver<Maybe<ResolversTypes['Product']>, ParentType, ContextType>;
  quantity?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  unitPrice?: Resolver<ResolversTypes['Money'], ParentType, ContextType>;
};

export type ProductResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Product'] = ResolversParentTypes['Product'], FederationReferenceType extends FederationReferenceTypes['Product'] = FederationReferenceTypes['Product']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Product']> | FederationReferenceType, FederationReferenceType, ContextType>;
  sku?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  price?: Resolver<ResolversTypes['Money'], ParentType, ContextType>;
  stock?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
};

export type MoneyResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Money'] = ResolversParentTypes['Money']> = {
  amountMinor?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  currency?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  display?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type OrderConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['OrderConnection'] = ResolversParentTypes['OrderConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['OrderEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Order']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type OrderEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['OrderEdge'] = ResolversParentTypes['OrderEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Order'], ParentType, ContextType>;
};

export type ProductConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ProductConnection'] = ResolversParentTypes['ProductConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['ProductEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Product']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
};

export type ProductEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ProductEdge'] = ResolversParentTypes['ProductEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Product'], ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type PlaceOrderPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PlaceOrderPayload'] = ResolversParentTypes['PlaceOrderPayload']> = {
  order?: Resolver<Maybe<ResolversTypes['Order']>, ParentType, ContextType>;
};

export type CancelOrderPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['CancelOrderPayload'] = ResolversParentTypes['CancelOrderPayload']> = {
  order?: Resolver<Maybe<ResolversTypes['Order']>, ParentType, ContextType>;
};

export type AdvanceOrderPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['AdvanceOrderPayload'] = ResolversParentTypes['AdvanceOrderPayload']> = {
  order?: Resolver<Maybe<ResolversTypes['Order']>, ParentType, ContextType>;
};

type OptionalResolvers<ContextType = Context> = {
  DateTime?: GraphQLScalarType;
  Query?: QueryResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  User?: UserResolvers<ContextType>;
  Post?: PostResolvers<ContextType>;
  Order?: OrderResolvers<ContextType>;
  OrderLine?: OrderLineResolvers<ContextType>;
  Product?: ProductResolvers<ContextType>;
  Money?: MoneyResolvers<ContextType>;
  OrderConnection?: OrderConnectionResolvers<ContextType>;
  OrderEdge?: OrderEdgeResolvers<ContextType>;
  ProductConnection?: ProductConnectionResolvers<ContextType>;
  ProductEdge?: ProductEdgeResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  PlaceOrderPayload?: PlaceOrderPayloadResolvers<ContextType>;
  CancelOrderPayload?: CancelOrderPayloadResolvers<ContextType>;
  AdvanceOrderPayload?: AdvanceOrderPayloadResolvers<ContextType>;
};

export type Resolvers = RequireResolvers<OptionalResolvers, ResolversParentTypes>;
