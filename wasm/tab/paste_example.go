package tab

// pasteExample is a log that was written for this page: a consumer dies without a word, another one joins, and everybody waits for the first one's
// session to end. The brokers' lines and two consumers' stand in one text.
const pasteExample = `[2026-11-30 04:05:01,204] INFO [GroupCoordinator 2]: Dynamic member with unknown member id joins group orders-app in Empty state. Created a new member id shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001 and request the member to rejoin with this id. (kafka.coordinator.group.GroupCoordinator)
[2026-11-30 04:05:01,211] INFO [GroupCoordinator 2]: Preparing to rebalance group orders-app in state PreparingRebalance with old generation 0 (__consumer_offsets-31) (reason: Adding new member shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001 with group instance id None; client reason: need to re-join with the given member-id: shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001) (kafka.coordinator.group.GroupCoordinator)
[2026-11-30 04:05:02,020] INFO [GroupCoordinator 2]: Dynamic member with unknown member id joins group orders-app in PreparingRebalance state. Created a new member id shop-b-7be2f0c4-11d3-4c7e-b0aa-2f6f6f10b002 and request the member to rejoin with this id. (kafka.coordinator.group.GroupCoordinator)
[2026-11-30 04:05:02,031] INFO [GroupCoordinator 2]: Pending dynamic member with id shop-b-7be2f0c4-11d3-4c7e-b0aa-2f6f6f10b002 joins group orders-app in PreparingRebalance state. Adding to the group now. (kafka.coordinator.group.GroupCoordinator)
[2026-11-30 04:05:04,214] INFO [GroupCoordinator 2]: Stabilized group orders-app generation 1 (__consumer_offsets-31) with 2 members (kafka.coordinator.group.GroupCoordinator)
2026-11-30T04:05:04.221Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Successfully joined group with generation Generation{generationId=1, memberId='shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001', protocol='range'}
2026-11-30T04:05:04.229Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Finished assignment for group at generation 1: {shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001=Assignment(partitions=[orders-0, orders-1, orders-2]), shop-b-7be2f0c4-11d3-4c7e-b0aa-2f6f6f10b002=Assignment(partitions=[orders-3, orders-4, orders-5])}
[2026-11-30 04:05:04,236] INFO [GroupCoordinator 2]: Assignment received from leader shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001 for group orders-app for generation 1. The group has 2 members, 0 of which are static. (kafka.coordinator.group.GroupCoordinator)
2026-11-30T04:05:04.242Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Successfully synced group in generation Generation{generationId=1, memberId='shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001', protocol='range'}
2026-11-30T04:05:04.243Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Adding newly assigned partitions: orders-0, orders-1, orders-2
2026-11-30T04:05:04.251Z shop-a WARN The kettle in the office is empty
[2026-11-30 04:31:40,118] INFO [GroupCoordinator 2]: Preparing to rebalance group orders-app in state PreparingRebalance with old generation 1 (__consumer_offsets-31) (reason: Adding new member shop-c-c4419d0e-5a7b-4a86-9c33-0d9a51b0b003 with group instance id None; client reason: need to re-join with the given member-id: shop-c-c4419d0e-5a7b-4a86-9c33-0d9a51b0b003) (kafka.coordinator.group.GroupCoordinator)
2026-11-30T04:31:42.003Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Attempt to heartbeat failed since group is rebalancing
2026-11-30T04:31:42.004Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Revoke previously assigned partitions orders-0, orders-1, orders-2
2026-11-30T04:31:42.006Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] (Re-)joining group
[2026-11-30 04:32:21,907] INFO [GroupCoordinator 2]: Member shop-b-7be2f0c4-11d3-4c7e-b0aa-2f6f6f10b002 in group orders-app has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)
[2026-11-30 04:32:21,910] INFO [GroupCoordinator 2]: Stabilized group orders-app generation 2 (__consumer_offsets-31) with 2 members (kafka.coordinator.group.GroupCoordinator)
2026-11-30T04:32:21.915Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Successfully joined group with generation Generation{generationId=2, memberId='shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001', protocol='range'}
2026-11-30T04:32:21.919Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Finished assignment for group at generation 2: {shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001=Assignment(partitions=[orders-0, orders-1, orders-2]), shop-c-c4419d0e-5a7b-4a86-9c33-0d9a51b0b003=Assignment(partitions=[orders-3, orders-4, orders-5])}
[2026-11-30 04:32:21,926] INFO [GroupCoordinator 2]: Assignment received from leader shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001 for group orders-app for generation 2. The group has 2 members, 0 of which are static. (kafka.coordinator.group.GroupCoordinator)
2026-11-30T04:32:21.930Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Successfully synced group in generation Generation{generationId=2, memberId='shop-a-1d0c7a52-90be-4a51-8c1e-6f27d1a0b001', protocol='range'}
2026-11-30T04:32:21.931Z shop-a INFO [Consumer clientId=shop-a, groupId=orders-app] Adding newly assigned partitions: orders-0, orders-1, orders-2
`
