package rest

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

//go:embed schema.graphql
var graphqlSource string

// field computes the value of a field when a query selects it.
type field func(arguments map[string]any) (any, error)

// refusalGQL is a refusal with its type in GitHub's GraphQL.
type refusalGQL struct{ kind, message string }

func (e *refusalGQL) Error() string { return e.kind + " " + e.message }

// GraphQL returns the handler of GraphQL. It refuses queries that GitHub's schema does
// not permit.
func (s *Server) GraphQL() http.Handler {
	schema := gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: graphqlSource})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, store.None, func(c *call) (int, any, error) { return c.graphql(schema) })
	})
}

func (c *call) graphql(schema *ast.Schema) (int, any, error) {
	if c.User.ID == 0 {
		return 0, nil, &failure{status: http.StatusUnauthorized, message: "This endpoint requires you to be authenticated."}
	}
	var in struct {
		Query     string
		Operation string `json:"operationName"`
		Variables map[string]any
	}
	if c.Method != http.MethodPost {
		return 0, nil, host.ErrNotFound
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	document, wrong := gqlparser.LoadQueryWithRules(schema, in.Query, rules.NewDefaultRules())
	if len(wrong) > 0 {
		return http.StatusOK, object{"errors": each(wrong, invalidQuery)}, nil
	}
	operation := document.Operations.ForName(in.Operation)
	if operation == nil {
		return http.StatusOK, object{"errors": []object{{"message": "Which operation is meant?", "extensions": object{"code": "operation"}}}}, nil
	}
	variables, err := validator.VariableValues(schema, operation, in.Variables)
	if err != nil {
		return http.StatusOK, object{"errors": []object{{"message": err.Error(), "extensions": object{"code": "variables"}}}}, nil
	}
	root := c.queries()
	if operation.Operation == ast.Mutation {
		root = c.mutations()
	}
	data, err := selected{schema, variables}.object(operation.SelectionSet, root)
	if refused, ok := errors.AsType[*refusalGQL](err); ok {
		return http.StatusOK, object{"data": nil, "errors": []object{{"type": refused.kind, "message": refused.message}}}, nil
	}
	return http.StatusOK, object{"data": data}, err
}

func invalidQuery(e *gqlerror.Error) object {
	return object{"message": e.Message, "locations": e.Locations, "extensions": object{"code": e.Rule}}
}

// selected picks the fields of an object that a query selects.
type selected struct {
	schema    *ast.Schema
	variables map[string]any
}

func (s selected) object(set ast.SelectionSet, from object) (object, error) {
	out := object{}
	for _, selection := range set {
		var part object
		var err error
		switch one := selection.(type) {
		case *ast.Field:
			var v any
			v, err = s.field(one, from)
			part = object{one.Alias: v}
		case *ast.InlineFragment:
			part, err = s.fragment(one.TypeCondition, one.SelectionSet, from)
		case *ast.FragmentSpread:
			part, err = s.fragment(one.Definition.TypeCondition, one.Definition.SelectionSet, from)
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(out, part)
	}
	return out, nil
}

// fragment returns nil if the object is not of the type.
func (s selected) fragment(kind string, set ast.SelectionSet, from object) (object, error) {
	if mine, _ := from["__typename"].(string); kind != "" && kind != mine {
		possible := s.schema.GetPossibleTypes(s.schema.Types[kind])
		fits := false
		for _, p := range possible {
			fits = fits || p.Name == mine
		}
		if !fits {
			return nil, nil
		}
	}
	return s.object(set, from)
}

func (s selected) field(one *ast.Field, from object) (any, error) {
	v, ok := from[one.Name]
	if !ok {
		return nil, fmt.Errorf("GraphQL: %s has no %s here", one.ObjectDefinition.Name, one.Name)
	}
	if f, ok := v.(field); ok {
		var err error
		if v, err = f(one.ArgumentMap(s.variables)); err != nil {
			return nil, err
		}
	}
	switch v := v.(type) {
	case object:
		if v == nil {
			return nil, nil
		}
		return s.object(one.SelectionSet, v)
	case []object:
		out := []object{}
		for _, row := range v {
			o, err := s.object(one.SelectionSet, row)
			if err != nil {
				return nil, err
			}
			out = append(out, o)
		}
		return out, nil
	}
	return v, nil
}
