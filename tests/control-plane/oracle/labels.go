package main

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selects says for each selector which of the label sets it picks, as the aggregation controller asks.
func selects(q question) (any, error) {
	var selectors []metav1.LabelSelector
	if err := json.Unmarshal(q.Owner, &selectors); err != nil {
		return nil, err
	}
	var sets []map[string]string
	if err := json.Unmarshal(q.Servant, &sets); err != nil {
		return nil, err
	}
	picked := make([][]bool, 0, len(selectors))
	for i := range selectors {
		row := make([]bool, len(sets))
		selector, err := metav1.LabelSelectorAsSelector(&selectors[i])
		for j, set := range sets {
			row[j] = err == nil && selector.Matches(labels.Set(set))
		}
		picked = append(picked, row)
	}
	return picked, nil
}
